//! The keys of this server, and the key set for verifiers of its signatures (RFC 7515, 7517).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use a2a::model::{Secret, read_own};

/// A private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    /// The algorithm of the key's signatures.
    pub algorithm: Algorithm,
    kid: String,
    /// The members of the public half, as JSON without braces, in the order of their names.
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

/// The keys of this server: one, or two during a key change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKeys {
    first: SigningKey,
    all: Vec<SigningKey>,
}

impl SigningKeys {
    /// Reads a private JWK, or a set of one or two. The first key signs notifications, each key signs cards.
    ///
    /// # Errors
    ///
    /// If the text is invalid; the error states the requirement and repeats nothing of the keys.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text: Value = read_own(text).map_err(|_| "must be a JWK, a JSON object")?;
        let all = match text.get("keys") {
            None => vec![SigningKey::read(&text)?],
            Some(Value::Array(keys)) if (1..=MAX_KEYS).contains(&keys.len()) => {
                keys.iter().map(SigningKey::read).collect::<Result<Vec<_>, _>>()?
            }
            Some(_) => return Err("must be a JWK, or a set with one or two in the list `keys`"),
        };
        match all.as_slice() {
            [one, other] if one.kid == other.kid => Err("must not hold two keys of the same kid"),
            [first, ..] => Ok(Self { first: first.clone(), all }),
            [] => Err("must hold a key"),
        }
    }

    /// The key that signs notifications.
    pub fn first(&self) -> &SigningKey {
        &self.first
    }

    /// All keys.
    pub fn all(&self) -> &[SigningKey] {
        &self.all
    }

    /// The key set that verifies signatures of these keys, as JSON.
    pub fn public_set(&self) -> String {
        let keys = self.all.iter().map(SigningKey::public_jwk).collect::<Vec<_>>();
        format!(r#"{{"keys":[{}]}}"#, keys.join(","))
    }
}

impl SigningKey {
    /// Reads a private JWK of type EC (P-256) or OKP (Ed25519).
    ///
    /// # Errors
    ///
    /// If the text is invalid; the error states the requirement and repeats nothing of the key.
    pub fn parse(jwk: &str) -> Result<Self, &'static str> {
        Self::read(&read_own(jwk).map_err(|_| "must be a JWK, a JSON object")?)
    }

    fn read(jwk: &Value) -> Result<Self, &'static str> {
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

    /// The key as a JWK that contains only the members of the key itself. The members `use` and `key_ops` of the
    /// operator's JWK are left out, since they could forbid signing.
    pub fn private_jwk(&self) -> Secret {
        Secret::new(format!(r#"{{{},"d":"{}"}}"#, self.public, self.d.reveal()))
    }

    /// The key id.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The public half, as JSON.
    fn public_jwk(&self) -> String {
        let Self { public, kid, .. } = self;
        let alg = self.algorithm.name();
        format!(r#"{{{public},"kid":"{kid}","alg":"{alg}","use":"sig"}}"#)
    }
}

impl Algorithm {
    /// The name of the algorithm in JOSE.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// True if a byte needs no escape in a JSON string.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'"' && byte != b'\\'
}

/// The largest number of keys: the signing key, and its successor or predecessor.
const MAX_KEYS: usize = 2;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    // The keys of RFC 8037 (appendix A) and RFC 7517 (appendix A.2).
    pub(in crate::signing) const ED25519: &str = r#"{"kty":"OKP","crv":"Ed25519",
        "d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
        "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    pub(in crate::signing) const P256: &str = r#"{"kty":"EC","crv":"P-256","kid":"1","use":"enc",
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        "d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}"#;

    #[test]
    fn a_key_without_name_is_named_by_its_thumbprint() {
        let set: Value =
            serde_json::from_str(&SigningKeys::parse(ED25519).unwrap().public_set()).unwrap();
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
            let set = SigningKeys::parse(jwk).unwrap().public_set();
            assert!(!set.contains("\"d\"") && !set.contains(private["d"].as_str().unwrap()));
        }
        let set: Value =
            serde_json::from_str(&SigningKeys::parse(P256).unwrap().public_set()).unwrap();
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
            for text in [jwk.clone(), format!(r#"{{"keys":[{P256},{jwk}]}}"#)] {
                let refusal = SigningKeys::parse(&text).unwrap_err();
                let is_json = serde_json::from_str::<Value>(&text).is_ok();
                assert!(refusal.contains(expected) || !is_json, "{refusal}");
                assert!(!refusal.contains("hush"), "{refusal}");
            }
        }
    }

    #[test]
    fn there_may_be_two_keys_of_different_names() {
        let set = |keys: &str| SigningKeys::parse(&format!(r#"{{"keys":{keys}}}"#));
        let both = set(&format!("[{ED25519},{P256}]")).unwrap();
        assert_eq!(both.first(), &SigningKey::parse(ED25519).unwrap());
        assert_eq!(both.all()[1], SigningKey::parse(P256).unwrap());
        let public: Value = serde_json::from_str(&both.public_set()).unwrap();
        assert_eq!(public["keys"][0]["alg"], "EdDSA");
        assert_eq!(public["keys"][1]["kid"], "1");
        assert_eq!(set(&format!("[{P256}]")).unwrap(), SigningKeys::parse(P256).unwrap());
        for (keys, expected) in [
            ("[]".to_owned(), "one or two"),
            (format!("[{P256},{ED25519},{P256}]"), "one or two"),
            ("{}".to_owned(), "one or two"),
            (format!("[{P256},{P256}]"), "the same kid"),
        ] {
            let refusal = set(&keys).unwrap_err();
            assert!(refusal.contains(expected), "{refusal}");
        }
    }
}
