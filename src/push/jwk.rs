//! The key of this server that receivers can look up: the JWTs that go with notifications, and the key
//! set that verifies them (RFC 7515, 7517, 7519). Signing itself is up to the platform.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use a2a::model::Secret;

/// A private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    /// What it signs with.
    pub algorithm: Algorithm,
    kid: String,
    /// The members that make its public half, as JSON without braces, in the order of their names.
    public: String,
    d: Secret,
}

/// An algorithm of a JWT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

/// What a JWT says.
#[derive(Clone, Copy, Debug)]
pub struct Claims<'a> {
    /// Who sends the notification: the origin of this server, below which the key set is found.
    pub issuer: &'a str,
    /// Whom it is for: the origin of the webhook.
    pub audience: &'a str,
    /// Now, in seconds since 1970.
    pub issued_at_s: i64,
    /// The id of the delivery.
    pub id: &'a str,
    /// The task.
    pub task_id: &'a str,
}

impl SigningKey {
    /// Reads a private JWK of type EC (P-256) or OKP (Ed25519).
    ///
    /// # Errors
    ///
    /// What it must be. The text repeats nothing of the key.
    pub fn parse(jwk: &str) -> Result<Self, &'static str> {
        let jwk: Value = serde_json::from_str(jwk).map_err(|_| "must be a JWK, a JSON object")?;
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let number = |name: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(text(name)?).ok()?;
            (bytes.len() == 32).then(|| URL_SAFE_NO_PAD.encode(bytes))
        };
        let x = || number("x").ok_or("must have the member x, 32 bytes in base64url");
        let (algorithm, public) = match (text("kty"), text("crv")) {
            (Some("EC"), Some("P-256")) => {
                let x = x()?;
                let y = number("y").ok_or("must have the member y, 32 bytes in base64url")?;
                let public = format!(r#""crv":"P-256","kty":"EC","x":"{x}","y":"{y}""#);
                (Algorithm::Es256, public)
            }
            (Some("OKP"), Some("Ed25519")) => {
                let x = x()?;
                (Algorithm::EdDsa, format!(r#""crv":"Ed25519","kty":"OKP","x":"{x}""#))
            }
            (_, _) => {
                return Err("must be of kty EC with crv P-256, or of kty OKP with crv Ed25519");
            }
        };
        let d = number("d").ok_or("must be private, with the member d, 32 bytes in base64url")?;
        let kid = match text("kid") {
            Some(kid) if !kid.bytes().all(is_plain) => {
                return Err("must have a kid of letters, digits and signs of ASCII, or none");
            }
            Some(kid) => kid.to_owned(),
            // RFC 7638.
            None => URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{{{public}}}"))),
        };
        Ok(Self { algorithm, kid, public, d: Secret::new(d) })
    }

    /// The key as a JWK with nothing but what makes it, for the platform: `use` and `key_ops` of the
    /// operator's could forbid it to sign.
    pub fn private_jwk(&self) -> Secret {
        Secret::new(format!(r#"{{{},"d":"{}"}}"#, self.public, self.d.reveal()))
    }

    /// The key set that verifies what this key signs, as JSON.
    pub fn public_set(&self) -> String {
        let Self { public, kid, .. } = self;
        let alg = self.algorithm.name();
        format!(r#"{{"keys":[{{{public},"kid":"{kid}","alg":"{alg}","use":"sig"}}]}}"#)
    }

    /// What of a JWT is signed: its header and claims. The signature goes behind it with [`join`].
    pub fn signing_input(&self, claims: &Claims) -> String {
        let Claims { issued_at_s: iat, .. } = claims;
        let [iss, aud, jti, task] = [claims.issuer, claims.audience, claims.id, claims.task_id]
            .map(|text| Value::from(text).to_string());
        let exp = iat + LIFETIME_S;
        let claims = format!(
            r#"{{"iss":{iss},"aud":{aud},"iat":{iat},"exp":{exp},"jti":{jti},"taskId":{task}}}"#
        );
        let (alg, kid) = (self.algorithm.name(), &self.kid);
        let header = format!(r#"{{"alg":"{alg}","typ":"JWT","kid":"{kid}"}}"#);
        format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims))
    }
}

impl Algorithm {
    /// Its name in JOSE.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// A whole JWT.
pub fn join(signing_input: &str, signature: &[u8]) -> String {
    format!("{signing_input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Whether a byte stands for itself in JSON.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'"' && byte != b'\\'
}

/// How long a JWT may be used.
const LIFETIME_S: i64 = 300;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // The keys of RFC 8037 (appendix A) and RFC 7517 (appendix A.2).
    const ED25519: &str = r#"{"kty":"OKP","crv":"Ed25519",
        "d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
        "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    const P256: &str = r#"{"kty":"EC","crv":"P-256","kid":"1","use":"enc",
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        "d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}"#;

    #[test]
    fn a_key_without_name_is_named_by_its_thumbprint() {
        let set: Value =
            serde_json::from_str(&SigningKey::parse(ED25519).unwrap().public_set()).unwrap();
        let expected = json!({"keys": [{
            "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "alg": "EdDSA", "use": "sig",
        }]});
        assert_eq!(set, expected);
    }

    #[test]
    fn the_key_set_shows_nothing_private() {
        for jwk in [ED25519, P256] {
            let private: Value = serde_json::from_str(jwk).unwrap();
            let set = SigningKey::parse(jwk).unwrap().public_set();
            assert!(!set.contains("\"d\"") && !set.contains(private["d"].as_str().unwrap()));
        }
        let set: Value =
            serde_json::from_str(&SigningKey::parse(P256).unwrap().public_set()).unwrap();
        assert_eq!(set["keys"][0]["kid"], "1");
        assert_eq!(set["keys"][0]["use"], "sig");
    }

    #[test]
    fn the_platform_gets_what_makes_the_key_and_nothing_else() {
        let text = SigningKey::parse(P256).unwrap().private_jwk();
        let members: Value = serde_json::from_str(text.reveal()).unwrap();
        let names: Vec<&String> = members.as_object().unwrap().keys().collect();
        assert_eq!(names, ["crv", "kty", "x", "y", "d"]);
        assert!(!format!("{:?}", SigningKey::parse(P256)).contains("870M"));
    }

    #[test]
    fn a_token_says_from_whom_for_whom_and_how_long() {
        let key = SigningKey::parse(P256).unwrap();
        let input = key.signing_input(&Claims {
            issuer: "https://agents.example",
            audience: "https://hooks.example",
            issued_at_s: 1_800_000_000,
            id: "delivery-1",
            task_id: "task-1",
        });
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

    #[test]
    fn a_key_that_cannot_be_used_is_refused_without_being_repeated() {
        let without = |jwk: &str, member: &str| {
            let mut jwk: Value = serde_json::from_str(jwk).unwrap();
            jwk.as_object_mut().unwrap().remove(member);
            jwk.to_string()
        };
        for (jwk, expected) in [
            ("hush".to_owned(), "must be a JWK"),
            ("[]".to_owned(), "must be of kty EC"),
            (r#"{"kty":"RSA","n":"hush","e":"AQAB"}"#.to_owned(), "must be of kty EC"),
            (P256.replace("EC", "RSA"), "must be of kty EC"),
            (P256.replace(r#""1""#, r#""hush\"""#), "must have a kid"),
            (P256.replace("P-256", "P-384"), "must be of kty EC"),
            (without(P256, "x"), "member x"),
            (without(P256, "y"), "member y"),
            (without(P256, "d"), "must be private"),
            (without(ED25519, "d"), "must be private"),
            (P256.replace("870M", ""), "must be private"),
        ] {
            let refusal = SigningKey::parse(&jwk).unwrap_err();
            assert!(refusal.contains(expected) && !refusal.contains("hush"), "{refusal}");
        }
    }
}
