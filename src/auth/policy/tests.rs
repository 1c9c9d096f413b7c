//! Requests as policies judge them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::*;
use a2a_agents::NotSet;

const NOW: UnixMillis = UnixMillis(1_767_603_601_000);

struct Deployment(BTreeMap<&'static str, &'static str>);

impl Values for Deployment {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        self.0.get(name).map(|value| Secret::new(*value)).ok_or_else(|| NotSet::value(name))
    }
}

fn deployment() -> Deployment {
    Deployment(BTreeMap::from([
        ("BILLING_KEY", "billing-secret-0001"),
        ("AUDIT_KEY", "audit-secret-000001"),
        ("TOKEN", "static-token-000001"),
        ("PASSWORD", "pass:word with \u{e4} colon"),
        ("SHORT", "short"),
        ("JWT_SECRET", "a secret of thirty-two bytes ..."),
        ("ISSUER", "https://id.example"),
        ("INSECURE", "http://id.example"),
    ]))
}

fn policy_in(is_development: bool, access: &str) -> Result<Policy, String> {
    let access: Access = toml::from_str(access).unwrap();
    let deployment = deployment();
    let secret = |name: &str| deployment.0.get(name).map(|value| Secret::new(*value));
    let made = Policy::new("demo", &access, &deployment, &secret, is_development);
    made.map_err(|misfit| misfit.0)
}

fn policy(access: &str) -> Policy {
    policy_in(false, access).unwrap()
}

const KEY: &str = "[schemes.key]\nkind = 'api_key'\nname = 'X-Api-Key'\n\
    callers = [{ id = 'billing', secrets = ['BILLING_KEY'], permissions = ['read'], claims = { team = 'blue' } }]\n";
const TOKEN: &str =
    "[schemes.token]\nkind = 'bearer'\ncallers = [{ id = 'robot', secrets = ['TOKEN'] }]\n";
const BASIC: &str =
    "[schemes.basic]\nkind = 'basic'\ncallers = [{ id = 'alice', secrets = ['PASSWORD'] }]\n";
const COOKIE: &str = "[schemes.cookie]\nkind = 'api_key'\nin = 'cookie'\nname = 'session'\n\
    callers = [{ id = 'page', secrets = ['AUDIT_KEY'] }]\n";
const QUERY: &str = "[schemes.query]\nkind = 'api_key'\nin = 'query'\nname = 'key'\n\
    callers = [{ id = 'hook', secrets = ['AUDIT_KEY'] }]\n";
const SHARED: &str =
    "[schemes.jwt]\nkind = 'jwt'\naudience = ['agents']\nsecrets = ['NONE', 'JWT_SECRET']\n";
const PUBLIC: &str = "[schemes.public]\nkind = 'jwt'\nissuer = '${ISSUER}'\naudience = ['agents']\ndiscover = true\n";
const TEAM: &str = "[schemes.team]\nkind = 'cloudflare_access'\nteam = 'https://team.example/'\naudience = ['tag']\n";
const TLS: &str = "[schemes.tls]\nkind = 'mutual_tls'\npermissions = ['write']\n";

const GOOD_KEY: (&str, &str) = ("x-api-key", "billing-secret-0001");
const GOOD_TOKEN: (&str, &str) = ("authorization", "Bearer static-token-000001");
const GOOD_COOKIE: (&str, &str) = ("cookie", "a=b; session=audit-secret-000001");
const JSON: (&str, &str) = ("content-type", "application/json");

fn evidence<'a>(query: &'a str, headers: &'a [(&'a str, &'a str)]) -> Evidence<'a> {
    Evidence { method: "POST", origin: "https://agents.example", query, headers }
}

fn identify(policy: &Policy, headers: &[(&str, &str)]) -> Identity {
    policy.identify(&evidence("", headers), &|_| None, NOW).identity
}

/// The id of the caller, or the HTTP status of the refusal.
fn found(identity: &Identity) -> String {
    match identity {
        Identity::Caller(caller) => caller.id.clone(),
        Identity::Refused(error) => error.wire().http.to_string(),
        Identity::Pending(tokens) => format!("{} pending", tokens.len()),
    }
}

fn refusal(identity: Identity) -> a2a::error::Refusal {
    match identity {
        Identity::Refused(Error::Unauthenticated(refusal) | Error::PermissionDenied(refusal)) => {
            *refusal
        }
        identity => panic!("{identity:?}"),
    }
}

fn token(alg: &str, claims: Value) -> String {
    let encode = |text: String| URL_SAFE_NO_PAD.encode(text);
    let plain = json!({
        "aud": "agents", "sub": "carol", "exp": NOW.0 / 1000 + 60, "iss": "https://id.example",
    });
    let mut all = plain;
    all.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
    let input = format!("{}.{}", encode(json!({"alg": alg}).to_string()), encode(all.to_string()));
    let signature = match alg {
        "HS256" => {
            use hmac::Mac;
            let mac =
                hmac::Hmac::<sha2::Sha256>::new_from_slice(b"a secret of thirty-two bytes ...");
            mac.unwrap().chain_update(&input).finalize().into_bytes().to_vec()
        }
        "RS256" => vec![1; 256],
        _ => vec![1; 64],
    };
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[test]
fn an_agent_without_schemes_is_open_in_development_or_because_its_file_says_so() {
    for (access, is_development, is_open) in [
        ("", true, true),
        ("", false, false),
        ("open = true", false, true),
        ("open = true", true, true),
    ] {
        let policy = policy_in(is_development, access);
        assert_eq!(policy.is_ok(), is_open, "{access:?} {is_development}");
        match policy {
            Ok(policy) => assert_eq!(found(&identify(&policy, &[])), "anonymous"),
            Err(told) => assert!(told.contains("`open = true`"), "{told}"),
        }
    }
}

#[test]
fn each_scheme_takes_its_credential() {
    let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
    let alice = basic("alice:pass:word with \u{e4} colon");
    let mallory = basic("mallory:pass:word with \u{e4} colon");
    let wrong = basic("alice:password");
    let no_colon = basic("alice");
    let (jwt, forged) =
        (bearer(&token("HS256", json!({}))), bearer(&format!("{}A", token("HS256", json!({})))));
    let foreign = bearer(&token("HS256", json!({"aud": "others"})));
    for (access, headers, who) in [
        (KEY, vec![GOOD_KEY], "key:billing"),
        (KEY, vec![("x-api-key", "billing-secret-0002")], "401"),
        (KEY, vec![("x-api-key", "billing-secret-0001, billing-secret-0001")], "401"),
        (KEY, vec![("cookie", "X-Api-Key=billing-secret-0001")], "401"),
        (KEY, vec![], "401"),
        (TOKEN, vec![GOOD_TOKEN], "token:robot"),
        (TOKEN, vec![("authorization", "static-token-000001")], "401"),
        (TOKEN, vec![("authorization", "Basic static-token-000001")], "401"),
        (BASIC, vec![("authorization", alice.as_str())], "basic:alice"),
        (BASIC, vec![("authorization", mallory.as_str())], "401"),
        (BASIC, vec![("authorization", wrong.as_str())], "401"),
        (BASIC, vec![("authorization", no_colon.as_str())], "401"),
        (BASIC, vec![("authorization", "Basic alice:password")], "401"),
        (COOKIE, vec![GOOD_COOKIE, JSON], "cookie:page"),
        (COOKIE, vec![GOOD_COOKIE], "403"),
        (COOKIE, vec![GOOD_COOKIE, JSON, ("origin", "https://evil.example")], "403"),
        (COOKIE, vec![JSON, ("origin", "https://evil.example")], "401"),
        (SHARED, vec![("authorization", jwt.as_str())], "jwt:carol"),
        (SHARED, vec![("authorization", forged.as_str())], "401"),
        (SHARED, vec![("authorization", foreign.as_str())], "401"),
    ] {
        assert_eq!(found(&identify(&policy(access), &headers)), who, "{access} {headers:?}");
    }
    let by_query =
        |query| found(&policy(QUERY).identify(&evidence(query, &[]), &|_| None, NOW).identity);
    assert_eq!(by_query("a=1&key=audit-secret-000001"), "query:hook");
    assert_eq!(by_query("key=audit-secret-000001&key=audit-secret-000001"), "401");
}

#[test]
fn a_token_is_pending_until_its_check_and_known_afterwards() {
    let policy = policy(PUBLIC);
    let header = bearer(&token("ES256", json!({"scope": "read"})));
    let headers = [("authorization", header.as_str())];
    let Identity::Pending(tokens) = identify(&policy, &headers) else { panic!("it is checked") };
    assert_eq!(tokens.len(), 1);
    assert_eq!(
        tokens[0].source,
        super::super::KeySource::Discovery("https://id.example".to_owned())
    );
    let identify_with = |verdict: Verdict| {
        let digest = tokens[0].digest;
        let verdict = |asked: &TokenDigest| (*asked == digest).then_some(verdict);
        policy.identify(&evidence("", &headers), &verdict, NOW).identity
    };
    assert_eq!(found(&identify_with(Verdict::Unavailable)), "503");
    assert_eq!(found(&identify_with(Verdict::Refused("the signature is wrong"))), "401");
    assert_eq!(found(&identify(&policy, &headers)), "1 pending");
    let Identity::Caller(caller) = identify_with(Verdict::Genuine) else { panic!("it is genuine") };
    assert_eq!((caller.id.as_str(), caller.may("read")), ("public:carol", true));
    assert_eq!(found(&identify(&policy, &headers)), "public:carol");
}

#[test]
fn cloudflare_access_speaks_for_people_and_for_services() {
    let policy = policy(TEAM);
    let (team, tag) = (json!("https://team.example"), json!(["tag"]));
    for (claims, who) in [
        (json!({"iss": team, "aud": tag}), "team:carol"),
        (
            json!({"iss": team, "aud": tag, "sub": "", "common_name": "robot.access"}),
            "team:robot.access",
        ),
        (json!({"iss": team, "aud": tag, "sub": ""}), "401"),
        (json!({"iss": team, "aud": ["other"]}), "401"),
        (json!({"iss": "https://other.example", "aud": tag}), "401"),
    ] {
        let assertion = token("RS256", claims.clone());
        let headers = [("cf-access-jwt-assertion", assertion.as_str()), JSON];
        let judged = policy.identify(&evidence("", &headers), &|_| Some(Verdict::Genuine), NOW);
        assert_eq!(found(&judged.identity), who, "{claims}");
    }
    let assertion = token("RS256", json!({"iss": team, "aud": tag, "sub": "dave"}));
    let headers = [("cf-access-jwt-assertion", assertion.as_str()), JSON];
    let Identity::Pending(tokens) = identify(&policy, &headers) else { panic!("it is checked") };
    let keys = "https://team.example/cdn-cgi/access/certs".to_owned();
    assert_eq!(tokens[0].source, super::super::KeySource::KeySet(keys));
    let headers = [headers[0], JSON, ("origin", "https://evil.example")];
    assert_eq!(found(&identify(&policy, &headers)), "403");
    let header = bearer(&assertion);
    assert_eq!(found(&identify(&policy, &[("authorization", &header)])), "401");
}

#[test]
fn requirements_name_schemes_that_must_all_pass() {
    let both = format!(
        "requires = [{{ key = [], token = [] }}, {{ tls = ['write'] }}]\n{KEY}{TOKEN}{TLS}"
    );
    let certificate = json!({"certPresented": "1", "certVerified": "SUCCESS", "certRevoked": "0",
        "certFingerprintSHA256": "0".repeat(64), "certSubjectDNRFC2253": "CN=robot"});
    let certificate = certificate.to_string();
    let certificate = (Evidence::CERTIFICATE, certificate.as_str());
    for (headers, who) in [
        (vec![GOOD_KEY, GOOD_TOKEN], "token:robot"),
        (vec![GOOD_KEY], "401"),
        (vec![GOOD_TOKEN], "401"),
        (vec![GOOD_KEY, ("authorization", "Bearer wrong")], "401"),
        (vec![certificate, JSON], "tls:CN=robot"),
        (vec![certificate, JSON, GOOD_KEY], "tls:CN=robot"),
        (vec![certificate, JSON, ("origin", "https://evil.example")], "403"),
    ] {
        assert_eq!(found(&identify(&policy(&both), &headers)), who, "{headers:?}");
    }
    let Identity::Caller(caller) = identify(&policy(&both), &[GOOD_KEY, GOOD_TOKEN]) else {
        panic!("both pass")
    };
    assert_eq!(caller.permissions, ["read"], "those of the second scheme come on top");
}

#[test]
fn a_caller_who_lacks_scopes_is_told_which() {
    let access = format!(
        "requires = [{{ key = ['read', 'write'] }}, {{ token = ['admin'] }}]\n{KEY}{TOKEN}"
    );
    let policy = policy(&access);
    let refused = identify(&policy, &[GOOD_KEY]);
    assert_eq!(found(&refused), "403");
    let refusal = refusal(refused);
    assert!(refusal.message.ends_with("these scopes are needed: write"), "{refusal:?}");
    assert_eq!(
        refusal.challenges,
        ["Bearer realm=\"demo\", error=\"insufficient_scope\", scope=\"write\""]
    );
    assert_eq!(found(&identify(&policy, &[])), "401");
}

#[test]
fn refusals_say_what_would_be_taken_and_repeat_nothing() {
    let all = policy(&[KEY, TOKEN, BASIC, COOKIE, SHARED, TEAM, TLS].concat());
    let missing = refusal(identify(&all, &[]));
    assert_eq!(
        missing.challenges,
        [
            "Bearer realm=\"demo\"",
            "Basic realm=\"demo\", charset=\"UTF-8\"",
            "CloudflareAccess realm=\"demo\"",
            "ApiKey realm=\"demo\", in=\"cookie\", name=\"session\"",
            "ApiKey realm=\"demo\", in=\"header\", name=\"x-api-key\"",
            "ClientCertificate realm=\"demo\"",
        ]
    );
    assert!(
        missing
            .message
            .starts_with("credentials are needed: a token, as \"Authorization: Bearer …\", or")
    );
    let expired = bearer(&token("HS256", json!({"exp": 5})));
    let refused = refusal(identify(&all, &[("authorization", &expired)]));
    assert_eq!(refused.message, "the credentials are refused: the token has expired");
    assert_eq!(
        refused.challenges[0],
        "Bearer realm=\"demo\", error=\"invalid_token\", error_description=\"the token has expired\""
    );
    let unknown = refusal(identify(&all, &[("x-api-key", "guessed-key")]));
    assert_eq!(unknown.message, "the credentials are refused: the key is not known");
}

/// The id of the caller, and the finding for each place in the request, for example `x-api-key: refused`.
fn judged(policy: &Policy, headers: &[(&str, &str)]) -> (String, Vec<String>) {
    let judged = policy.identify(&evidence("", headers), &|_| None, NOW);
    let told = judged.findings.iter().map(|(place, finding)| {
        let finding = match finding {
            Finding::Taken => "taken",
            Finding::Open => "open",
            Finding::Refused { is_foreign: true, .. } => "foreign",
            Finding::Refused { is_foreign: false, .. } => "refused",
            Finding::Held(_) => "held",
        };
        let place = match place {
            Place::Bearer | Place::Basic => "authorization",
            Place::Header(name) => name.as_str(),
            Place::Cookie(_) => "cookie",
            Place::Query(_) => "query",
            Place::CloudflareAccess => "cf-access-jwt-assertion",
            Place::Certificate => ":certificate",
        };
        format!("{place}: {finding}")
    });
    (found(&judged.identity), told.collect())
}

#[test]
fn each_credential_is_judged_also_where_another_says_who_the_caller_is() {
    let either = [KEY, TOKEN, COOKIE].concat();
    let both = format!("requires = [{{ cookie = [], key = [] }}]\n{COOKIE}{KEY}");
    let scoped = format!("requires = [{{ key = ['write'] }}]\n{KEY}");
    let pending = bearer(&token("ES256", json!({})));
    let pending = ("authorization", pending.as_str());
    let certificate = (Evidence::CERTIFICATE, "{\"certPresented\": \"1\"}");
    let wrong = ("authorization", "Bearer guessed");
    let stale = ("cookie", "session=wrong");
    for (access, headers, who, findings) in [
        (&*either, vec![GOOD_KEY], "key:billing", vec!["x-api-key: taken"]),
        (&either, vec![], "401", vec![]),
        (&either, vec![wrong], "401", vec!["authorization: foreign"]),
        (
            &either,
            vec![GOOD_KEY, wrong],
            "key:billing",
            vec!["authorization: foreign", "x-api-key: taken"],
        ),
        // The cookie is checked only if `requires` names the cookie scheme or the request has no other credential.
        (&either, vec![GOOD_KEY, stale, JSON], "key:billing", vec!["x-api-key: taken"]),
        (&both, vec![GOOD_KEY, stale, JSON], "401", vec!["cookie: foreign", "x-api-key: taken"]),
        (&either, vec![stale, JSON], "401", vec!["cookie: foreign"]),
        // A cookie is refused in a request from another origin, so its value is not checked.
        (&either, vec![stale, JSON, ("origin", "https://evil.example")], "403", vec![]),
        // The key is correct but lacks the permission.
        (&scoped, vec![GOOD_KEY], "403", vec!["x-api-key: taken"]),
        // Several schemes read the same header.
        (&[TOKEN, SHARED].concat(), vec![GOOD_TOKEN], "token:robot", vec!["authorization: taken"]),
        (
            &[BASIC, TOKEN].concat(),
            vec![("authorization", "Basic x")],
            "401",
            vec!["authorization: refused"],
        ),
        // The token's check is not finished without the key set.
        (&[KEY, PUBLIC].concat(), vec![pending], "1 pending", vec![]),
        (
            &format!("requires = [{{ key = [] }}, {{ public = [] }}]\n{KEY}{PUBLIC}"),
            vec![GOOD_KEY, pending],
            "key:billing",
            vec!["authorization: open", "x-api-key: taken"],
        ),
        // A certificate cannot be guessed, so it has no finding.
        (
            &[KEY, TLS].concat(),
            vec![certificate, GOOD_KEY],
            "key:billing",
            vec!["x-api-key: taken"],
        ),
        ("open = true", vec![wrong], "anonymous", vec![]),
    ] {
        let findings = findings.into_iter().map(str::to_owned).collect();
        let policy = policy(access);
        assert_eq!(judged(&policy, &headers), (who.to_owned(), findings), "{access} {headers:?}");
    }
}

#[test]
fn no_answer_tells_a_right_credential_while_an_address_is_held() {
    let policy = policy(&[KEY, TLS].concat());
    policy.hold("192.0.2.1", NOW.after(60_000), NOW);
    let held = |address: &str, headers: &[(&str, &str)], now| {
        let judged = policy.held(&evidence("", headers), || address.to_owned(), now);
        judged.map(|judged| (found(&judged.identity), judged.findings.len()))
    };
    let refused = Some(("429".to_owned(), 1));
    assert_eq!(held("192.0.2.1", &[GOOD_KEY], NOW), refused);
    assert_eq!(held("192.0.2.1", &[("x-api-key", "wrong")], NOW), refused);
    assert_eq!(held("192.0.2.1", &[("x-api-key", "")], NOW.after(59_999)), refused);
    assert_eq!(held("192.0.2.1", &[GOOD_KEY], NOW.after(60_000)), None, "it is over");
    assert_eq!(held("192.0.2.2", &[GOOD_KEY], NOW), None, "another address");
    assert_eq!(held("192.0.2.1", &[], NOW), None, "nothing is guessed");
    assert_eq!(held("192.0.2.1", &[(Evidence::CERTIFICATE, "{}")], NOW), None, "nor can it be");
}

#[test]
fn a_credential_that_was_sent_on_purpose_goes_before_a_cookie() {
    let either = policy(&[COOKIE, KEY].concat());
    for (headers, who) in [
        (vec![GOOD_COOKIE, JSON], "cookie:page"),
        (vec![GOOD_COOKIE, JSON, GOOD_KEY], "key:billing"),
        (vec![GOOD_COOKIE, JSON, ("x-api-key", "wrong")], "401"),
        (vec![GOOD_COOKIE, GOOD_KEY, ("origin", "https://evil.example")], "key:billing"),
        (vec![("cookie", "session=wrong"), JSON, GOOD_KEY], "key:billing"),
        (vec![GOOD_COOKIE, JSON, ("authorization", "Bearer of-the-task")], "cookie:page"),
    ] {
        assert_eq!(found(&identify(&either, &headers)), who, "{headers:?}");
    }
    let both = policy(&format!("requires = [{{ cookie = [], key = [] }}]\n{COOKIE}{KEY}"));
    assert_eq!(found(&identify(&both, &[GOOD_COOKIE, JSON, GOOD_KEY])), "cookie:page");
    assert_eq!(found(&identify(&both, &[GOOD_COOKIE, GOOD_KEY])), "403");
}

#[test]
fn who_a_request_is_of_does_not_depend_on_what_is_known() {
    let access = format!("requires = [{{ public = [] }}, {{ key = [] }}]\n{PUBLIC}{KEY}");
    let policy = policy(&access);
    let header = bearer(&token("ES256", json!({})));
    let headers = [("authorization", header.as_str()), GOOD_KEY];
    assert_eq!(found(&identify(&policy, &headers)), "1 pending");
    let with = |verdict| policy.identify(&evidence("", &headers), &|_| Some(verdict), NOW).identity;
    assert_eq!(found(&with(Verdict::Unavailable)), "503");
    assert_eq!(found(&with(Verdict::Refused("it is forged"))), "key:billing");
    assert_eq!(found(&with(Verdict::Genuine)), "public:carol");
    assert_eq!(found(&identify(&policy, &headers)), "public:carol");
}

#[test]
fn tokens_of_two_issuers_are_told_apart() {
    let other = "[schemes.other]\nkind = 'jwt'\nissuer = 'https://other.example'\naudience = ['agents']\n\
                 jwks_url = 'https://other.example/keys'\n";
    let policy = policy(&[PUBLIC, other, TOKEN].concat());
    for (issuer, who) in
        [("https://id.example", "public:carol"), ("https://other.example", "other:carol")]
    {
        let header = bearer(&token("ES256", json!({"iss": issuer})));
        let headers = [("authorization", header.as_str())];
        let judged = policy.identify(&evidence("", &headers), &|_| Some(Verdict::Genuine), NOW);
        assert_eq!(found(&judged.identity), who);
    }
    let expired = bearer(&token("ES256", json!({"exp": 1})));
    let refused = refusal(identify(&policy, &[("authorization", &expired)]));
    assert_eq!(refused.message, "the credentials are refused: the token has expired");
}

#[test]
fn a_group_is_the_value_of_a_claim() {
    let access = format!("share_by = 'team'\n{KEY}{SHARED}");
    let policy = policy(&access);
    let owner = |headers: &[(&str, &str)]| match identify(&policy, headers) {
        Identity::Caller(caller) => caller.owner().to_owned(),
        identity => panic!("{identity:?}"),
    };
    assert_eq!(owner(&[GOOD_KEY]), "@key:blue");
    for (team, group) in [("red", "@jwt:red"), ("", "jwt:carol"), ("a:b", "@jwt:a:b")] {
        let header = bearer(&token("HS256", json!({"team": team})));
        assert_eq!(owner(&[("authorization", &header)]), group);
    }
}

#[test]
fn what_is_missing_in_a_deployment_is_told() {
    let team = |text: &str| TEAM.replace("https://team.example/", text);
    for (access, told) in [
        (
            KEY.replace("BILLING_KEY", "GONE"),
            "[access.schemes.key] the secret GONE is not set in this deployment",
        ),
        (
            KEY.replace("BILLING_KEY", "SHORT"),
            "[access.schemes.key] the secret SHORT has 5 bytes, and needs 16",
        ),
        (
            SHARED.replace("JWT_SECRET", "TOKEN"),
            "[access.schemes.jwt] the secret TOKEN has 19 bytes, and needs 32",
        ),
        (
            SHARED.replace("JWT_SECRET", "GONE"),
            "[access.schemes.jwt] none of the secrets NONE, GONE is set",
        ),
        (
            PUBLIC.replace("ISSUER", "GONE"),
            "[access.schemes.public] `issuer`: the secret or variable GONE is not set",
        ),
        (
            PUBLIC.replace("ISSUER", "INSECURE"),
            "[access.schemes.public] `issuer` must begin with https://",
        ),
        (team("${INSECURE}"), "[access.schemes.team] `team` must begin with https://"),
        (
            format!("{SHARED}algorithms = ['RS256']"),
            "[access.schemes.jwt] `algorithms` must fit the keys",
        ),
        (
            format!("{PUBLIC}algorithms = ['HS256']"),
            "[access.schemes.public] `algorithms` must fit the keys",
        ),
        (
            PUBLIC.replace("issuer = '${ISSUER}'", ""),
            "[access.schemes.public] needs `secrets`, `jwks_url` or `discover`",
        ),
        (
            format!("requires = [{{ none = [] }}]\n{KEY}"),
            "`access.requires` names no scheme \"none\"",
        ),
        (format!("requires = [{{}}]\n{KEY}"), "`access.requires` has an entry without schemes"),
    ] {
        let refused = policy_in(false, &access).err().unwrap();
        assert!(refused.starts_with(told), "{refused}");
    }
    assert!(policy_in(true, &KEY.replace("BILLING_KEY", "SHORT")).is_ok(), "in development");
}

#[test]
fn the_platform_is_asked_for_the_headers_that_count() {
    for (access, headers) in [
        ("open = true", vec![]),
        (KEY, vec!["x-api-key"]),
        (TOKEN, vec!["authorization"]),
        (QUERY, vec![]),
        (COOKIE, vec!["cookie", "origin", "sec-fetch-site"]),
        (TEAM, vec!["cf-access-jwt-assertion", "origin", "sec-fetch-site"]),
        (TLS, vec![":certificate", "origin", "sec-fetch-site"]),
    ] {
        // An open agent has no operators, because operators must be authenticated.
        let act_as = if access == "open = true" { None } else { Some("act-as") };
        let headers: Vec<&str> = headers.into_iter().chain(act_as).collect();
        assert_eq!(policy(access).access().credential_headers(), headers, "{access}");
    }
}

#[test]
fn another_agent_brings_only_callers_who_could_come_themselves() {
    let caller = |id: &str, permissions: &[&str]| Caller {
        permissions: permissions.iter().map(|&permission| permission.to_owned()).collect(),
        group: Some("@key:blue".to_owned()),
        ..Caller::new(id)
    };
    let needs = |requires: &str| format!("requires = {requires}\n{KEY}{TOKEN}{SHARED}");
    let [read, write] =
        [needs("[{ key = ['read'] }]"), needs("[{ key = ['write'] }, { jwt = [] }]")];
    let both = needs("[{ key = [], token = [] }]");
    for (access, who, vouched) in [
        // An open agent accepts every caller.
        ("open = true", Caller::anonymous(), "anonymous"),
        ("open = true", caller("key:billing", &[]), "key:billing"),
        // An anonymous or unknown caller is refused.
        (KEY, Caller::anonymous(), "401"),
        (KEY, Caller::new("billing"), "401"),
        // Both agents know the caller.
        (KEY, caller("key:billing", &["read"]), "key:billing"),
        (SHARED, caller("jwt:carol", &[]), "jwt:carol"),
        // Only the other agent knows the caller.
        (KEY, caller("key:other", &["read"]), "403"),
        (KEY, caller("keyx:billing", &["read"]), "403"),
        (KEY, caller("jwt:carol", &["read"]), "403"),
        // The permissions of the caller are checked.
        (&read, caller("key:billing", &["read"]), "key:billing"),
        (&read, caller("key:billing", &["reader"]), "403"),
        (&read, caller("token:robot", &["read"]), "403"),
        (&write, caller("key:billing", &["read"]), "403"),
        (&write, caller("jwt:carol", &[]), "jwt:carol"),
        (&both, caller("key:billing", &["read"]), "403"),
    ] {
        // The other agent has the same access rules.
        let identity = policy(access).vouch(&who, Some(policy(access).access()));
        assert_eq!(found(&identity), vouched, "{access} {who:?}");
        if let Identity::Caller(vouched) = identity {
            assert_eq!(vouched, who, "the same caller");
        }
    }
}

#[test]
fn one_name_for_different_schemes_makes_no_caller_another_one() {
    let caller = |id: &str| Caller {
        permissions: vec!["read".to_owned()],
        group: Some("@key:blue".to_owned()),
        ..Caller::new(id)
    };
    let key = |text: &str, other: &str| KEY.replace(text, other);
    let jwt = |text: &str, other: &str| SHARED.replace(text, other);
    for (here, there, who, vouched) in [
        (KEY.to_owned(), key("X-Api-Key", "X-Other"), "key:billing", "key:billing"),
        (
            KEY.to_owned(),
            key("{ id = 'billing'", "{ id = 'b', secrets = ['X'] }, { id = 'billing'"),
            "key:billing",
            "key:billing",
        ),
        (KEY.to_owned(), key("BILLING_KEY", "AUDIT_KEY"), "key:billing", "403"),
        (KEY.to_owned(), key("['read']", "['read', 'write']"), "key:billing", "403"),
        (
            KEY.to_owned(),
            key("kind = 'api_key'\nname = 'X-Api-Key'", "kind = 'bearer'"),
            "key:billing",
            "key:billing",
        ),
        (SHARED.to_owned(), jwt("'agents'", "'others'"), "jwt:carol", "403"),
        (SHARED.to_owned(), jwt("'JWT_SECRET'", "'TOKEN'"), "jwt:carol", "403"),
        (SHARED.to_owned(), SHARED.to_owned(), "jwt:carol", "jwt:carol"),
        (SHARED.to_owned(), "open = true".to_owned(), "jwt:carol", "403"),
    ] {
        let there: Access = toml::from_str(&there).unwrap();
        let identity = policy(&here).vouch(&caller(who), Some(&there));
        assert_eq!(found(&identity), vouched, "{here} {there:?}");
    }
    assert_eq!(found(&policy(KEY).vouch(&caller("key:billing"), None)), "403");

    // A group is kept only if both agents share tasks by the same claim.
    let shared = |claim: &str| format!("share_by = '{claim}'\n{KEY}");
    for (here, there, group) in [
        (shared("team"), shared("team"), Some("@key:blue")),
        (shared("team"), KEY.to_owned(), None),
        (KEY.to_owned(), shared("team"), None),
    ] {
        let there: Access = toml::from_str(&there).unwrap();
        let Identity::Caller(vouched) = policy(&here).vouch(&caller("key:billing"), Some(&there))
        else {
            panic!("refused")
        };
        assert_eq!(vouched.group.as_deref(), group, "{here} {there:?}");
    }
}
