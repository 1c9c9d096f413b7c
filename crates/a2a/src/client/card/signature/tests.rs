use std::cell::RefCell;
use std::rc::Rc;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::*;
use crate::canonical::to_jcs;
use crate::client::simulation::Simulation;
use crate::client::{Bearer, Settings};
use crate::http::memory::{ok, status};

/// A verifier for which the signature is a digest of the key's `kid`, the algorithm and the text.
struct Digests;

fn digest(kid: &str, algorithm: &str, text: &[u8]) -> Vec<u8> {
    Sha256::digest([kid.as_bytes(), algorithm.as_bytes(), text].concat()).to_vec()
}

impl Verifier for Digests {
    fn verify<'a>(
        &'a self,
        jwk: &'a str,
        algorithm: &'a str,
        text: &'a [u8],
        signature: &'a [u8],
    ) -> LocalBoxFuture<'a, bool> {
        let jwk: Value = serde_json::from_str(jwk).expect("a JWK");
        let kid = jwk["kid"].as_str().expect("a name");
        let is_right = digest(kid, algorithm, text) == signature;
        Box::pin(std::future::ready(is_right))
    }
}

fn unsigned() -> Value {
    json!({"name": "A", "version": "1", "capabilities": {}, "skills": [],
        "supportedInterfaces": [{"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]})
}

fn signature(header: &Value, payload: &Value) -> Value {
    let protected = URL_SAFE_NO_PAD.encode(header.to_string());
    let text = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(to_jcs(payload)));
    let said = |name: &str| header[name].as_str().unwrap_or_default();
    let bytes = digest(said("kid"), said("alg"), text.as_bytes());
    json!({"protected": protected, "signature": URL_SAFE_NO_PAD.encode(bytes)})
}

fn header(kid: &str, jku: &str) -> Value {
    json!({"alg": "ES256", "kid": kid, "jku": jku, "typ": "JOSE"})
}

/// The result for a card with these signatures, and the key sets that were requested.
fn judged(settings: Settings, signatures: Option<Value>) -> (Result<(), String>, Vec<String>) {
    let mut card = unsigned();
    if let Some(signatures) = signatures {
        card["signatures"] = signatures;
    }
    let simulation = Simulation::default();
    let text = card.to_string();
    let sets = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&sets);
    simulation.http().answer_with(move |request, _| {
        if request.url.contains("agent-card") {
            return Ok(ok(text.clone()));
        }
        let is_bearer = request.headers.iter().any(|(name, _)| name == "authorization");
        let own = if is_bearer { " with token" } else { "" };
        log.borrow_mut().push(format!("{}{own}", request.url));
        let keys = |rest: &str| {
            ok(format!(r#"{{"keys": [{{"kid": "1"}}, {{"kid": "2"}}], "rest": {rest}}}"#))
        };
        Ok(match request.url.rsplit('/').next() {
            Some("none.json") => status(404),
            Some("many.json") => keys(&format!("[{}0]", "0,".repeat(25_000))),
            Some("deep.json") => keys(&format!("{}{}", "[".repeat(110), "]".repeat(110))),
            _ => keys("0"),
        })
    });
    let client = Client::new(settings, simulation.ports()).with_verifier(Rc::new(Digests));
    let client = client.with_credentials(Rc::new(Bearer::new("t")));
    let fetched = simulation.run(client.fetch_card());
    (fetched.map(|_| ()).map_err(|error| error.to_string()), sets.take())
}

fn settings(verify: Verify) -> Settings {
    Settings { verify, ..Settings::new("https://a.example") }
}

const JKU: &str = "https://a.example/jwks.json";

#[test]
fn a_signature_of_any_canonical_form_makes_a_card_genuine() {
    let empties_left_out = json!({"name": "A", "version": "1",
        "supportedInterfaces": [{"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]});
    for signatures in [
        json!([signature(&header("1", JKU), &unsigned())]),
        json!([signature(&header("2", JKU), &empties_left_out)]),
        json!([{"protected": "?"}, signature(&header("9", JKU), &unsigned()), signature(&header("1", JKU), &unsigned())]),
    ] {
        for verify in [Verify::IfSigned, Verify::Required] {
            let (judged, sets) = judged(settings(verify), Some(signatures.clone()));
            assert_eq!(judged, Ok(()));
            assert_eq!(sets, [format!("{JKU} with token")]);
        }
    }
}

#[test]
fn a_card_without_a_right_signature_is_refused_where_one_is_wanted() {
    let other = json!({"name": "B"});
    let deep = (0..110).fold(json!(0), |inner, _| json!([inner]));
    let with = |change: Value| {
        let mut header = header("1", JKU);
        header
            .as_object_mut()
            .expect("an object")
            .extend(change.as_object().expect("an object").clone());
        signature(&header, &unsigned())
    };
    for (signatures, reason) in [
        (json!([signature(&header("1", JKU), &other)]), "its signature is wrong"),
        (
            json!([signature(&header("3", JKU), &unsigned())]),
            "the key of its signature is not in the key set",
        ),
        (json!([{}]), "its signature is malformed"),
        // The header counts as one value of the card's text, independent of its content.
        (json!([with(json!({"x": vec![0; 25_000]}))]), "its signature is malformed"),
        (json!([with(json!({"x": deep}))]), "its signature is malformed"),
        (
            json!([{"protected": "e30", "signature": "?"}]),
            "its signature is none of ES256, RS256 and EdDSA",
        ),
        (json!([with(json!({"alg": "none"}))]), "its signature is none of ES256, RS256 and EdDSA"),
        (json!([with(json!({"alg": "HS256"}))]), "its signature is none of ES256, RS256 and EdDSA"),
        (json!([with(json!({"crit": ["x"]}))]), "its signature asks for extensions of its format"),
        (json!([with(json!({"kid": null}))]), "its signature names no key (kid)"),
        (json!([with(json!({"jku": null}))]), "its signature names no key set (jku)"),
        (
            json!([with(json!({"jku": "https://evil.example/jwks.json"}))]),
            "the key set of its signature is on a host that the settings do not name",
        ),
        (
            json!([with(json!({"jku": "https://a.example@evil.example/"}))]),
            "its signature names no key set (jku)",
        ),
    ] {
        for verify in [Verify::IfSigned, Verify::Required] {
            let (judged, sets) = judged(settings(verify), Some(signatures.clone()));
            let expected = format!("the card cannot be used: {reason}");
            assert_eq!(judged, Err(expected));
            assert!(sets.iter().all(|set| set.starts_with(JKU)), "{sets:?}");
        }
        assert_eq!(judged(settings(Verify::Never), Some(signatures)).0, Ok(()));
    }
    assert_eq!(judged(settings(Verify::IfSigned), None).0, Ok(()));
    let (missing, _) = judged(settings(Verify::Required), None);
    assert_eq!(missing, Err("the card cannot be used: it is not signed".to_owned()));
}

#[test]
fn keys_come_from_hosts_that_the_settings_name() {
    let jku = "https://keys.example:8443/jwks.json";
    let signatures = json!([signature(&header("1", jku), &unsigned())]);
    for (host, is_taken) in [
        ("keys.example:8443", true),
        ("KEYS.example:8443", true),
        ("keys.example", false),
        ("example:8443", false),
    ] {
        let named = Settings { jwks_hosts: vec![host.to_owned()], ..settings(Verify::Required) };
        let (judged, sets) = judged(named, Some(signatures.clone()));
        assert_eq!(judged.is_ok(), is_taken, "{host}");
        assert_eq!(
            sets,
            if is_taken { vec![jku.to_owned()] } else { Vec::new() },
            "without the token"
        );
    }
    for (gone, reason) in [
        ("none", "https://a.example/none.json answered 404"),
        (
            "many",
            "the answer of https://a.example/many.json cannot be used: it holds more than 20000 JSON values",
        ),
        (
            "deep",
            "the answer of https://a.example/deep.json cannot be used: it is nested more than 100 levels deep",
        ),
    ] {
        let gone = format!("https://a.example/{gone}.json");
        let (judged, _) = judged(
            settings(Verify::Required),
            Some(json!([signature(&header("1", &gone), &unsigned())])),
        );
        let reason = format!("the card cannot be used: the keys of its signature: {reason}");
        assert_eq!(judged, Err(reason));
    }
}

#[test]
fn a_client_that_cannot_verify_says_so() {
    let simulation = Simulation::default();
    simulation.http().answer_with(|_, _| {
        let mut card = unsigned();
        card["signatures"] = json!([{}]);
        Ok(ok(card.to_string()))
    });
    let client = Client::new(settings(Verify::IfSigned), simulation.ports());
    let error = simulation.run(client.fetch_card()).expect_err("no verifier");
    assert!(error.to_string().contains("this client has no verifier"), "{error}");
}
