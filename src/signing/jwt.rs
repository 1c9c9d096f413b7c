//! The JWTs in notifications (RFC 7519).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::SigningKey;

/// The claims of a JWT.
#[derive(Clone, Copy, Debug)]
pub struct Claims<'a> {
    /// The sender of the notification: the origin of this server, below which the key set is served.
    pub issuer: &'a str,
    /// The recipient: the origin of the webhook.
    pub audience: &'a str,
    /// The current time, in seconds since 1970.
    pub issued_at_s: i64,
    /// The id of the delivery.
    pub id: &'a str,
    /// The task.
    pub task_id: &'a str,
}

impl Claims<'_> {
    /// The signed part of a JWT: its header for this key, and these claims.
    pub fn signing_input(&self, key: &SigningKey) -> String {
        let Self { issued_at_s: iat, .. } = self;
        let [iss, aud, jti, task] = [self.issuer, self.audience, self.id, self.task_id]
            .map(|text| Value::from(text).to_string());
        let exp = iat + LIFETIME_S;
        let claims = format!(
            r#"{{"iss":{iss},"aud":{aud},"iat":{iat},"exp":{exp},"jti":{jti},"taskId":{task}}}"#
        );
        let (alg, kid) = (key.algorithm.name(), key.kid());
        let header = format!(r#"{{"alg":"{alg}","typ":"JWT","kid":"{kid}"}}"#);
        format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims))
    }
}

/// How long a JWT is valid, in seconds.
const LIFETIME_S: i64 = 300;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::join;
    use super::super::jwk::tests::P256;
    use super::*;

    #[test]
    fn a_token_says_from_whom_for_whom_and_how_long() {
        let key = SigningKey::parse(P256).unwrap();
        let claims = Claims {
            issuer: "https://agents.example",
            audience: "https://hooks.example",
            issued_at_s: 1_800_000_000,
            id: "delivery-1",
            task_id: "task-1",
        };
        let input = claims.signing_input(&key);
        let parts = input.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
        let parts: Vec<Value> = parts.map(|part| serde_json::from_slice(&part).unwrap()).collect();
        let expected = [
            json!({"alg": "ES256", "typ": "JWT", "kid": "1"}),
            json!({
                "iss": "https://agents.example", "aud": "https://hooks.example",
                "iat": 1_800_000_000, "exp": 1_800_000_300, "jti": "delivery-1", "taskId": "task-1",
            }),
        ];
        assert_eq!(parts, expected);
        assert_eq!(join("a.b", &[0xff, 0xfe]), "a.b.__4");
    }
}
