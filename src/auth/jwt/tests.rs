//! Tokens of every form that must be accepted, and of many forms that must be refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::*;

const NOW_S: i64 = 1_767_603_601;
const NOW: UnixMillis = UnixMillis(NOW_S * 1000);
const SECRETS: [&str; 2] =
    ["the new secret of the issuer ....", "the old secret of the issuer ...."];

fn rules(keys: Keys, algorithms: &[JwtAlgorithm]) -> TokenRules {
    TokenRules {
        scheme: "demo jwt".to_owned(),
        issuer: Some("https://id.example".to_owned()),
        audience: vec!["agents".to_owned()],
        algorithms: algorithms.to_vec(),
        keys,
        claims: JwtClaims::default(),
        id_otherwise: None,
        share_by: Some("team".to_owned()),
        leeway_ms: 60_000,
    }
}

fn shared() -> TokenRules {
    let key = |secret: &str| Hmac::new_from_slice(secret.as_bytes()).unwrap();
    rules(Keys::Shared(SECRETS.map(key).to_vec()), &[JwtAlgorithm::Hs256])
}

fn public() -> TokenRules {
    let source = KeySource::KeySet("https://id.example/keys".to_owned());
    let algorithms = [JwtAlgorithm::Rs256, JwtAlgorithm::Es256, JwtAlgorithm::EdDsa];
    rules(Keys::Public(source), &algorithms)
}

fn claims() -> Value {
    json!({"iss": "https://id.example", "aud": "agents", "sub": "alice", "exp": NOW_S + 600})
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

fn without(mut object: Value, name: &str) -> Value {
    object.as_object_mut().unwrap().remove(name);
    object
}

fn signed_texts(header: &str, claims: &str, secret: &str) -> String {
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let input = format!("{}.{}", encode(header), encode(claims));
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(&input);
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

fn signed(header: &Value, claims: &Value) -> String {
    signed_texts(&header.to_string(), &claims.to_string(), SECRETS[0])
}

fn header() -> Value {
    json!({"alg": "HS256", "typ": "JWT"})
}

fn prove(rules: &TokenRules, text: &str) -> Proof {
    rules.prove(text, &KnownTokens::default(), &|_| None, NOW)
}

fn refusal(rules: &TokenRules, text: &str) -> Option<String> {
    match prove(rules, text) {
        Proof::Refused(refused) => Some(refused.reason),
        _ => None,
    }
}

fn passed(proof: Proof) -> Proven {
    match proof {
        Proof::Passed(proven) => proven,
        proof => panic!("{proof:?}"),
    }
}

#[test]
fn a_token_says_who_its_bearer_is() {
    let claims = json!({
        "iss": "https://id.example", "aud": ["other", "agents"], "sub": "alice", "exp": NOW_S + 600,
        "nbf": NOW_S, "iat": NOW_S, "jti": "1", "session_id": "s-1", "team": "blue",
        "scope": "read write", "permissions": ["write", "operator"], "extra": {"a": [1]},
    });
    let expected = Proven {
        subject: "alice".to_owned(),
        session: Some("s-1".to_owned()),
        permissions: ["read", "write", "operator"].map(str::to_owned).to_vec(),
        group: Some("blue".to_owned()),
        expires_at: Some(UnixMillis((NOW_S + 660) * 1000)),
    };
    for secret in SECRETS {
        let token = signed_texts(&header().to_string(), &claims.to_string(), secret);
        assert_eq!(passed(prove(&shared(), &token)), expected);
    }
}

#[test]
fn honest_tokens_are_taken() {
    let plain = claims();
    for (header, claims) in [
        (header(), plain.clone()),
        (json!({"alg": "HS256"}), plain.clone()),
        (json!({"alg": "HS256", "typ": "at+jwt"}), plain.clone()),
        (json!({"alg": "HS256", "typ": "application/at+JWT"}), plain.clone()),
        (json!({"typ": "jwt", "kid": "../../etc/passwd", "alg": "HS256"}), plain.clone()),
        (json!({"alg": "HS256", "x5t": "abc", "x5c": ["abc"], "cty": "x"}), plain.clone()),
        (header(), with(plain.clone(), "exp", json!(NOW_S - 59))),
        (header(), with(plain.clone(), "exp", json!(NOW_S as f64 + 0.5))),
        (header(), with(plain.clone(), "nbf", json!(NOW_S + 60))),
        (header(), with(plain.clone(), "iat", json!(NOW_S + 60))),
        (header(), with(plain.clone(), "sub", json!("\u{430}lice \u{1f600}"))),
        (header(), with(plain.clone(), "team", json!(null))),
        (header(), with(plain.clone(), "session_id", json!(""))),
    ] {
        let token = signed(&header, &claims);
        assert!(matches!(prove(&shared(), &token), Proof::Passed(_)), "{header} {claims}");
    }
}

#[test]
fn headers_choose_neither_algorithm_nor_key() {
    let mut hostile: Vec<Value> = [
        "none",
        "None",
        "NONE",
        "nOnE",
        "",
        "HS384",
        "HS512",
        "hs256",
        "HS256 ",
        " HS256",
        "RS256",
        "ES256",
        "EdDSA",
        "PS256",
        "Ed25519",
        "ES256K",
        "\u{41d}S256",
        "HS\u{ff12}56",
        "HS256\u{0}",
        "dir",
        "A128KW",
    ]
    .into_iter()
    .map(|alg| json!({"alg": alg, "typ": "JWT"}))
    .collect();
    for (name, value) in [
        ("alg", json!(null)),
        ("alg", json!(["HS256"])),
        ("alg", json!({"HS256": true})),
        ("alg", json!(256)),
        ("crit", json!([])),
        ("crit", json!(["exp"])),
        ("b64", json!(false)),
        ("zip", json!("DEF")),
        ("enc", json!("A256GCM")),
        ("jku", json!("https://evil.example/keys")),
        ("jwk", json!({"kty": "oct", "k": "AAAA"})),
        ("x5u", json!("https://evil.example/cert")),
        ("typ", json!("dpop+jwt")),
        ("typ", json!("logout+jwt")),
        ("typ", json!("JWE")),
        ("typ", json!(null)),
        ("typ", json!(["JWT"])),
        ("kid", json!("")),
        ("kid", json!(5)),
        ("kid", json!(null)),
        ("kid", json!(["a"])),
        ("kid", json!("a\u{0}b")),
        ("kid", json!("a\r\nb")),
        ("kid", json!("x".repeat(257))),
    ] {
        hostile.push(with(header(), name, value));
    }
    hostile.push(json!({"typ": "JWT"}));
    hostile.push(json!({"ALG": "HS256"}));
    for header in hostile {
        let token = signed(&header, &claims());
        assert!(refusal(&shared(), &token).is_some(), "{header}");
        assert!(refusal(&public(), &token).is_some() || header["alg"] != "HS256", "{header}");
    }
}

#[test]
fn claims_that_are_wrong_are_refused() {
    let plain = claims();
    let mut hostile: Vec<Value> =
        ["iss", "aud", "exp", "sub"].into_iter().map(|name| without(plain.clone(), name)).collect();
    for (name, value) in [
        ("iss", json!("https://id.example/")),
        ("iss", json!("https://ID.example")),
        ("iss", json!("http://id.example")),
        ("iss", json!("https://id.example.evil.example")),
        ("iss", json!(["https://id.example"])),
        ("iss", json!("https://id.ex\u{430}mple")),
        ("iss", json!(null)),
        ("aud", json!("agent")),
        ("aud", json!("agents ")),
        ("aud", json!("Agents")),
        ("aud", json!([])),
        ("aud", json!(["other"])),
        ("aud", json!(["agents", 5])),
        ("aud", json!([["agents"]])),
        ("aud", json!({"agents": true})),
        ("aud", json!("\u{430}gents")),
        ("exp", json!(NOW_S - 60)),
        ("exp", json!(0)),
        ("exp", json!(-1)),
        ("exp", json!((NOW_S + 600).to_string())),
        ("exp", json!(null)),
        ("exp", json!(true)),
        ("exp", json!([NOW_S + 600])),
        ("exp", json!(1e18)),
        ("nbf", json!(NOW_S + 61)),
        ("nbf", json!("now")),
        ("nbf", json!(null)),
        ("iat", json!(NOW_S + 61)),
        ("iat", json!({})),
        ("sub", json!("")),
        ("sub", json!(null)),
        ("sub", json!(5)),
        ("sub", json!(["alice"])),
        ("sub", json!({"a": 1})),
        ("sub", json!("alice\n")),
        ("sub", json!("al\u{200b}ice")),
        ("sub", json!("\u{202e}ecila")),
        ("sub", json!(" alice")),
        ("sub", json!("x".repeat(257))),
        ("session_id", json!(5)),
        ("scope", json!({"read": true})),
        ("scope", json!([5])),
        ("permissions", json!(5)),
        ("team", json!(["blue"])),
        ("team", json!("bl\nue")),
    ] {
        hostile.push(with(plain.clone(), name, value));
    }
    for claims in hostile {
        assert!(refusal(&shared(), &signed(&header(), &claims)).is_some(), "{claims}");
    }
}

#[test]
fn texts_that_are_no_tokens_are_refused() {
    let good = signed(&header(), &claims());
    let parts: Vec<&str> = good.split('.').collect();
    let [head, body, signature] = parts.as_slice() else { panic!("{good}") };
    let plain = claims().to_string();
    let twice = plain.replacen('{', r#"{"sub":"mallory","#, 1);
    let deep = format!("{}{}", r#"{"a":"#.repeat(300), "}".repeat(300));
    let texts = |header: &str, claims: &str| signed_texts(header, claims, SECRETS[0]);
    let flipped = |index: usize| {
        let mut bytes = good.clone().into_bytes();
        bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    for text in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        format!("{head}.{body}"),
        format!("{head}.{body}."),
        format!("{head}.{body}.."),
        format!("{good}."),
        format!("{good}.{signature}"),
        format!(".{good}"),
        format!("{head}..{signature}"),
        format!(".{body}.{signature}"),
        format!("{head}=.{body}.{signature}"),
        format!("{head}.{body}.{signature}="),
        format!("{head}.{body}.{signature}A"),
        format!("{head}.{body}.{}", signature.split_at(signature.len() - 1).0),
        format!("{head}.{body}.{}", "A".repeat(43)),
        format!("{body}.{head}.{signature}"),
        format!("{head}.{}.{signature}", body.replacen('e', "+", 1)),
        format!("{head}.{}\n.{signature}", body),
        flipped(5),
        flipped(head.len() + 20),
        flipped(head.len() + body.len() + 10),
        texts(r#"{"alg":"HS256","alg":"none"}"#, &plain),
        texts(r#"{"alg":"none","alg":"HS256"}"#, &plain),
        texts(&header().to_string(), &twice),
        texts(&header().to_string(), &deep),
        texts(&header().to_string(), "\"alice\""),
        texts(&header().to_string(), "[]"),
        texts(&header().to_string(), &good),
        texts(&header().to_string(), &format!("{plain} {plain}")),
        texts("[]", &plain),
        texts("null", &plain),
        texts("", &plain),
        signed_texts(&header().to_string(), &plain, "another secret"),
        signed_texts(&header().to_string(), &plain, ""),
    ] {
        assert!(refusal(&shared(), &text).is_some(), "{text}");
    }
}

#[test]
fn tokens_of_public_keys_are_checked_elsewhere_and_known_from_then_on() {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let body = encode(&claims());
    let token = |alg: &str, length: usize| {
        let header = encode(&json!({"alg": alg, "kid": "k"}));
        format!("{header}.{body}.{}", URL_SAFE_NO_PAD.encode(vec![7; length]))
    };
    let (rules, known) = (public(), KnownTokens::default());
    for (alg, algorithm, length) in [
        ("RS256", JwtAlgorithm::Rs256, 256),
        ("ES256", JwtAlgorithm::Es256, 64),
        ("EdDSA", JwtAlgorithm::EdDsa, 64),
    ] {
        let text = token(alg, length);
        let prove = |verdict: Option<Verdict>, now| rules.prove(&text, &known, &|_| verdict, now);
        let Proof::Unchecked(unchecked) = prove(None, NOW) else { panic!("{alg}") };
        assert_eq!((unchecked.algorithm, unchecked.kid.as_deref()), (algorithm, Some("k")));
        assert_eq!(unchecked.signature, vec![7; length]);
        assert!(text.starts_with(&format!("{}.", unchecked.signing_input)));
        assert_eq!(prove(Some(Verdict::Unavailable), NOW), Proof::Unavailable);
        let wrong = prove(Some(Verdict::Refused("wrong")), NOW);
        assert_eq!(wrong, Proof::Refused(Refused::because("wrong")));
        assert!(matches!(prove(None, NOW), Proof::Unchecked(_)), "nothing was kept");
        assert_eq!(passed(prove(Some(Verdict::Genuine), NOW)).subject, "alice");
        assert_eq!(passed(prove(None, NOW)).subject, "alice");
        let late = UnixMillis(NOW.0 + 660_000);
        assert!(matches!(prove(None, late), Proof::Refused(_)), "it has expired");
        // The same token, read by another scheme.
        let other = TokenRules { scheme: "demo other".to_owned(), ..public() };
        assert!(matches!(other.prove(&text, &known, &|_| None, NOW), Proof::Unchecked(_)));
    }
    for (alg, length) in
        [("RS256", 255), ("RS256", 128), ("ES256", 70), ("EdDSA", 63), ("ES256", 0)]
    {
        assert!(refusal(&rules, &token(alg, length)).is_some(), "{alg} {length}");
    }
    // Rules with public keys refuse HMAC, whose secret could be the known public key, and tokens without a signature.
    for alg in ["HS256", "HS384", "none"] {
        assert!(refusal(&rules, &token(alg, 32)).is_some(), "{alg}");
    }
}

#[test]
fn another_claim_says_who_a_service_is() {
    let rules = TokenRules { id_otherwise: Some("common_name"), ..shared() };
    for (sub, name, subject) in [
        (json!("alice"), json!("robot"), Some("alice")),
        (json!(""), json!("robot"), Some("robot")),
        (json!(null), json!("robot"), Some("robot")),
        (json!(""), json!(""), None),
        (json!(5), json!("robot"), None),
    ] {
        let claims = with(with(claims(), "sub", sub), "common_name", name);
        let found = match prove(&rules, &signed(&header(), &claims)) {
            Proof::Passed(proven) => Some(proven.subject),
            _ => None,
        };
        assert_eq!(found.as_deref(), subject, "{claims}");
    }
}
