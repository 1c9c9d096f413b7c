//! The example of a receiver in Rust, tested with the same vectors as those in other languages.

use serde_json::Value;
use verify::{is_signed, verify_token};

#[path = "../../docs/receivers/verify.rs"]
#[allow(unreachable_pub, reason = "it reads as a file of the reader's")]
mod verify;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../docs/receivers/vectors.json")).unwrap()
}

#[test]
fn a_genuine_notification_is_told_from_others() {
    let vectors = vectors();
    let text = |name: &str| vectors[name].as_str().unwrap();
    let [secret, id, timestamp] = [text("secret"), text("id"), text("timestamp")];
    let (signature, body) = (text("signature"), text("body").as_bytes());
    let now_s: u64 = timestamp.parse().unwrap();
    let wrong = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let several = format!("{wrong} v2,other {signature}");
    let changed = text("body").replace("COMPLETED", "CANCELED");
    let other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    for (case, genuine, is_genuine) in [
        ("as it came", is_signed(secret, id, timestamp, signature, body, now_s), true),
        ("soon after", is_signed(secret, id, timestamp, signature, body, now_s + 299), true),
        ("several", is_signed(secret, id, timestamp, &several, body, now_s), true),
        ("too late", is_signed(secret, id, timestamp, signature, body, now_s + 301), false),
        ("too early", is_signed(secret, id, timestamp, signature, body, now_s - 301), false),
        ("body", is_signed(secret, id, timestamp, signature, changed.as_bytes(), now_s), false),
        ("id", is_signed(secret, "other", timestamp, signature, body, now_s), false),
        ("time", is_signed(secret, id, "1700000001", signature, body, now_s), false),
        ("no time", is_signed(secret, id, "soon", signature, body, now_s), false),
        ("secret", is_signed(other, id, timestamp, signature, body, now_s), false),
        ("signature", is_signed(secret, id, timestamp, wrong, body, now_s), false),
        ("none", is_signed(secret, id, timestamp, "", body, now_s), false),
    ] {
        assert_eq!(genuine, is_genuine, "{case}");
    }
}

#[test]
fn a_genuine_token_is_told_from_others() {
    let vectors = vectors();
    let text = |name: &str| vectors[name].as_str().unwrap();
    let jwks = serde_json::from_value(vectors["jwks"].clone()).unwrap();
    let verify = |token: &Value| {
        verify_token(token.as_str().unwrap(), &jwks, text("issuer"), text("audience"))
    };
    for (algorithm, token) in vectors["tokens"].as_object().unwrap() {
        let claims = verify(token).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        assert_eq!((claims.jti.as_str(), claims.task_id.as_str()), (text("id"), text("taskId")));
    }
    for (case, token) in vectors["badTokens"].as_object().unwrap() {
        assert!(verify(token).is_err(), "{case}");
    }
}
