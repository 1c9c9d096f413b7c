//! The public keys of an issuer of tokens: a JWK Set (RFC 7517), parsed strictly. Only keys for one of the supported
//! algorithms are kept, and of these only the members that make the key.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use a2a::model::{MAX_DOCUMENT_VALUES, UnfitJson, read_foreign_as, read_own};
use a2a_agents::access::JwtAlgorithm;

/// The public keys of an issuer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<PublicKey>,
    /// The number of keys that must not be in a public key set, or are too weak. They are not used.
    pub improper: usize,
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    kid: Option<String>,
    /// The only algorithm for which the key is used.
    pub algorithm: JwtAlgorithm,
    /// The members that make the key, in the order of their names.
    members: Vec<(&'static str, String)>,
}

/// The reason why a set has no key for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoKey {
    /// No key has this name and this algorithm.
    Unknown,
    /// Several different keys match.
    Ambiguous,
}

impl KeySet {
    /// Parses a JWK Set. Keys of other types, for other uses or with other algorithms are left out, and so are keys that
    /// a key set must not contain: private ones, symmetric ones, and RSA keys of fewer than 2048 bits.
    ///
    /// # Errors
    ///
    /// If the text is not a JWK Set, or has more than [`MAX_KEYS`] keys or [`MAX_DOCUMENT_VALUES`] JSON values.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let no_set = "must be a JWK Set, a JSON object whose member keys is a list of objects";
        let read = read_foreign_as::<Set<'_>>(text.as_bytes(), MAX_DOCUMENT_VALUES);
        let Set { keys: listed } = read.map_err(|unfit| match unfit {
            UnfitJson::TooManyValues { .. } => "must have at most 20000 JSON values",
            UnfitJson::TooDeep | UnfitJson::NotJson { .. } => no_set,
        })?;
        if listed.len() > MAX_KEYS {
            return Err("must have at most 100 keys");
        }
        let mut set = Self::default();
        for jwk in listed {
            match PublicKey::parse(jwk.get()) {
                Ok(key) if !set.keys.contains(&key) => set.keys.push(key),
                Ok(_) | Err(Unfit::Other) => {}
                Err(Unfit::Improper) => set.improper += 1,
                Err(Unfit::NoObject) => return Err(no_set),
            }
        }
        Ok(set)
    }

    /// The key for a token: the key with this name; for a token without a key name, the only key for its algorithm.
    ///
    /// # Errors
    ///
    /// [`NoKey`].
    pub fn key(&self, kid: Option<&str>, algorithm: JwtAlgorithm) -> Result<&PublicKey, NoKey> {
        let fits = |key: &&PublicKey| {
            key.algorithm == algorithm && (kid.is_none() || key.kid.as_deref() == kid)
        };
        let mut fitting = self.keys.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (None, _) => Err(NoKey::Unknown),
            (Some(key), None) => Ok(key),
            (Some(_), Some(_)) => Err(NoKey::Ambiguous),
        }
    }

    /// The set as JSON, from which [`parse`](Self::parse) reads the same keys.
    pub fn to_json(&self) -> String {
        let keys = self.keys.iter().map(|key| {
            let mut members = key.public();
            members.insert("alg".to_owned(), name(key.algorithm).into());
            members.extend(key.kid.iter().map(|kid| ("kid".to_owned(), kid.as_str().into())));
            Value::Object(members)
        });
        Value::Object(Map::from_iter([("keys".to_owned(), keys.collect())])).to_string()
    }
}

impl PublicKey {
    fn parse(jwk: &str) -> Result<Self, Unfit> {
        let Ok(members) = read_own::<Map<String, Value>>(jwk) else {
            return Err(Unfit::NoObject);
        };
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let (kty, crv) = (text("kty"), text("crv"));
        let is_secret = SECRET.iter().any(|name| members.contains_key(*name));
        if is_secret || kty == Some("oct") {
            return Err(Unfit::Improper);
        }
        let algorithm = match (kty, crv) {
            (Some("RSA"), _) => JwtAlgorithm::Rs256,
            (Some("EC"), Some("P-256")) => JwtAlgorithm::Es256,
            (Some("OKP"), Some("Ed25519")) => JwtAlgorithm::EdDsa,
            (_, _) => return Err(Unfit::Other),
        };
        let is_for_it = match members.get("alg").map(Value::as_str) {
            None => true,
            // RFC 9864 defines a second name for this algorithm.
            Some(Some("Ed25519")) => algorithm == JwtAlgorithm::EdDsa,
            Some(alg) => alg == Some(name(algorithm)),
        };
        let is_for_signatures = match members.get("use") {
            None => true,
            Some(purpose) => purpose == "sig",
        };
        let verifies = match members.get("key_ops") {
            None => true,
            Some(Value::Array(operations)) => operations.iter().any(|name| name == "verify"),
            Some(_) => false,
        };
        let kid = match members.get("kid") {
            None => None,
            Some(Value::String(kid)) if kid.len() <= MAX_KID_BYTES => Some(kid.clone()),
            Some(_) => return Err(Unfit::Other),
        };
        if !(is_for_it && is_for_signatures && verifies) {
            return Err(Unfit::Other);
        }
        let bytes = |name: &str| {
            let bytes = text(name).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
            bytes.ok_or(Unfit::Other)
        };
        let coordinate = |name: &str| {
            let bytes = bytes(name)?;
            if bytes.len() == 32 { Ok(URL_SAFE_NO_PAD.encode(bytes)) } else { Err(Unfit::Other) }
        };
        let members = match algorithm {
            JwtAlgorithm::Rs256 => {
                let (n, e) = (number(bytes("n")?), number(bytes("e")?));
                check_rsa(&n, &e)?;
                vec![("e", URL_SAFE_NO_PAD.encode(e)), ("n", URL_SAFE_NO_PAD.encode(n))]
            }
            JwtAlgorithm::Es256 => vec![("x", coordinate("x")?), ("y", coordinate("y")?)],
            JwtAlgorithm::EdDsa => vec![("x", coordinate("x")?)],
            JwtAlgorithm::Hs256 => return Err(Unfit::Other),
        };
        Ok(Self { kid, algorithm, members })
    }

    /// The key as a JWK for the platform, with only the members that make the key. The text identifies the key.
    pub fn to_jwk(&self) -> String {
        Value::Object(self.public()).to_string()
    }

    fn public(&self) -> Map<String, Value> {
        let kind: &[(&str, &str)] = match self.algorithm {
            JwtAlgorithm::Rs256 => &[("kty", "RSA")],
            JwtAlgorithm::Es256 => &[("kty", "EC"), ("crv", "P-256")],
            JwtAlgorithm::EdDsa => &[("kty", "OKP"), ("crv", "Ed25519")],
            JwtAlgorithm::Hs256 => &[],
        };
        let members = self.members.iter().map(|(name, value)| (*name, value.as_str()));
        let all = kind.iter().copied().chain(members);
        all.map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
    }

    /// True if a signature has a length that is possible for this key.
    pub fn may_have_made(&self, signature: &[u8]) -> bool {
        match self.algorithm {
            JwtAlgorithm::Rs256 => {
                let n = self.members.iter().find(|(name, _)| *name == "n");
                let modulus = n.and_then(|(_, n)| URL_SAFE_NO_PAD.decode(n).ok());
                modulus.is_some_and(|modulus| modulus.len() == signature.len())
            }
            JwtAlgorithm::Es256 | JwtAlgorithm::EdDsa => signature.len() == 64,
            JwtAlgorithm::Hs256 => false,
        }
    }
}

/// The name of an algorithm in JOSE.
fn name(algorithm: JwtAlgorithm) -> &'static str {
    match algorithm {
        JwtAlgorithm::Hs256 => "HS256",
        JwtAlgorithm::Rs256 => "RS256",
        JwtAlgorithm::Es256 => "ES256",
        JwtAlgorithm::EdDsa => "EdDSA",
    }
}

/// The reason why a key is not used.
enum Unfit {
    /// The key is for another purpose, or of an unknown type.
    Other,
    /// The key must not be in a public key set.
    Improper,
    /// The key is not a JSON object.
    NoObject,
}

/// A number without leading zeros, which some issuers write.
fn number(bytes: Vec<u8>) -> Vec<u8> {
    bytes.into_iter().skip_while(|byte| *byte == 0).collect()
}

fn check_rsa(n: &[u8], e: &[u8]) -> Result<(), Unfit> {
    let zeros = n.first().map_or(0, |first| first.leading_zeros() as usize);
    let bits = n.len() * 8 - zeros;
    // With the exponent 1, each message would be its own signature.
    let is_odd = e.last().is_some_and(|last| last & 1 == 1);
    let is_exponent = is_odd && e.len() <= MAX_EXPONENT_BYTES && e != [1];
    if bits < MIN_RSA_BITS || !is_exponent {
        return Err(Unfit::Improper);
    }
    if bits > MAX_RSA_BITS { Err(Unfit::Other) } else { Ok(()) }
}

/// A JWK Set whose keys are not parsed yet.
#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

/// The largest number of keys in a set.
pub const MAX_KEYS: usize = 100;

/// The longest name of a key that is kept, in bytes.
const MAX_KID_BYTES: usize = 512;

const MIN_RSA_BITS: usize = 2_048;

/// A larger key is refused, because checking its signatures takes too much time.
const MAX_RSA_BITS: usize = 8_192;

const MAX_EXPONENT_BYTES: usize = 4;

/// The members that are secret in a JWK of any kind (RFC 7518 §6).
const SECRET: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use JwtAlgorithm::{EdDsa, Es256, Hs256, Rs256};

    // The keys of RFC 7517 (A.1) and RFC 8037 (A.2).
    fn ec() -> Value {
        json!({"kty": "EC", "crv": "P-256", "kid": "ec", "use": "sig",
            "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"})
    }

    fn ed() -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "kid": "ed",
            "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})
    }

    /// An RSA key of this many bits; nobody has its private half.
    fn rsa(bits: usize) -> Value {
        let mut n = vec![0xff; bits.div_ceil(8)];
        n[0] >>= n.len() * 8 - bits;
        json!({"kty": "RSA", "kid": "rsa", "alg": "RS256", "e": "AQAB", "n": URL_SAFE_NO_PAD.encode(n)})
    }

    fn with(mut key: Value, members: Value) -> Value {
        for (name, value) in members.as_object().unwrap() {
            key[name] = value.clone();
        }
        key
    }

    fn without(mut key: Value, member: &str) -> Value {
        key.as_object_mut().unwrap().remove(member);
        key
    }

    fn set(keys: &[Value]) -> KeySet {
        KeySet::parse(&json!({"keys": keys}).to_string()).unwrap()
    }

    #[test]
    fn a_key_is_found_by_its_name_and_its_algorithm() {
        let set = set(&[rsa(2048), ec(), ed()]);
        for (kid, algorithm, found) in [
            ("rsa", Rs256, true),
            ("ec", Es256, true),
            ("ed", EdDsa, true),
            ("ec", Rs256, false),
            ("rsa", Hs256, false),
            ("rsa", Es256, false),
            ("RSA", Rs256, false),
            ("", Rs256, false),
            ("../rsa", Rs256, false),
        ] {
            let key = set.key(Some(kid), algorithm);
            assert_eq!(key.is_ok(), found, "{kid} {algorithm:?}");
            if !found {
                assert_eq!(key.unwrap_err(), NoKey::Unknown);
            }
        }
        assert_eq!(set.improper, 0);
    }

    #[test]
    fn a_token_without_a_name_takes_the_only_key_for_its_algorithm() {
        let bare = || without(ec(), "kid");
        let other = || with(ec(), json!({"kid": "other", "x": ed()["x"]}));
        for (keys, kid, found) in [
            (vec![bare()], None, Ok(())),
            (vec![bare(), ed(), rsa(2048)], None, Ok(())),
            (vec![ec()], None, Ok(())),
            (vec![bare(), other()], None, Err(NoKey::Ambiguous)),
            (vec![ed()], None, Err(NoKey::Unknown)),
            (vec![bare()], Some("ec"), Err(NoKey::Unknown)),
        ] {
            let shown = format!("{keys:?}");
            assert_eq!(set(&keys).key(kid, Es256).map(|_| ()), found, "{shown}");
        }
    }

    #[test]
    fn two_keys_of_a_name_are_used_only_if_they_are_the_same() {
        assert!(set(&[ec(), ec()]).key(Some("ec"), Es256).is_ok());
        let other = with(ec(), json!({"x": ed()["x"]}));
        let twice = set(&[ec(), other, with(ed(), json!({"kid": "ec"}))]);
        assert_eq!(twice.key(Some("ec"), Es256), Err(NoKey::Ambiguous));
        assert!(twice.key(Some("ec"), EdDsa).is_ok(), "another algorithm");
    }

    #[test]
    fn keys_for_something_else_are_left_out() {
        for (key, why) in [
            (with(ec(), json!({"use": "enc"})), "for encryption"),
            (with(ec(), json!({"use": 1})), "no use"),
            (with(ec(), json!({"alg": "ES384"})), "another algorithm"),
            (with(ec(), json!({"alg": "HS256"})), "an algorithm of other keys"),
            (with(ec(), json!({"alg": null})), "no algorithm"),
            (with(ec(), json!({"crv": "P-384"})), "another curve"),
            (with(ec(), json!({"crv": "secp256k1"})), "another curve"),
            (with(ec(), json!({"key_ops": ["sign"]})), "for signing"),
            (with(ec(), json!({"key_ops": []})), "for nothing"),
            (with(ec(), json!({"key_ops": "verify"})), "no list"),
            (with(ec(), json!({"kid": 7})), "no name"),
            (with(ec(), json!({"kid": "k".repeat(513)})), "a long name"),
            (with(ec(), json!({"x": "AAAA"})), "short"),
            (with(ec(), json!({"x": "*"})), "no base64url"),
            (without(ec(), "y"), "a half"),
            (with(ed(), json!({"crv": "X25519"})), "for key agreement"),
            (with(ed(), json!({"crv": "Ed448"})), "another curve"),
            (with(rsa(2048), json!({"alg": "RS384"})), "another hash"),
            (with(rsa(2048), json!({"alg": "PS256"})), "another padding"),
            (with(rsa(2048), json!({"alg": "RSA-OAEP"})), "for encryption"),
            (rsa(8200), "too long"),
            (json!({"kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA"}), "unknown"),
            (json!({}), "nothing"),
        ] {
            let set = set(&[key]);
            assert_eq!((set.keys.len(), set.improper), (0, 0), "{why}");
        }
    }

    #[test]
    fn keys_that_no_set_must_show_are_never_used() {
        for (key, why) in [
            (json!({"kty": "oct", "alg": "HS256", "kid": "k", "k": "c2VjcmV0"}), "symmetric"),
            (json!({"kty": "oct"}), "symmetric"),
            (with(ec(), json!({"d": ec()["x"]})), "private"),
            (with(ed(), json!({"d": ed()["x"]})), "private"),
            (with(rsa(2048), json!({"d": "AQAB"})), "private"),
            (with(rsa(2048), json!({"p": "AQAB", "q": "AQAB"})), "private"),
            (with(ec(), json!({"k": "c2VjcmV0"})), "both"),
            (rsa(512), "weak"),
            (rsa(1024), "weak"),
            (rsa(2047), "weak"),
            (with(rsa(2048), json!({"e": "AQ"})), "no exponent"),
            (with(rsa(2048), json!({"e": "AAE"})), "no exponent"),
            (with(rsa(2048), json!({"e": "Ag"})), "an even exponent"),
            (with(rsa(2048), json!({"e": ""})), "no exponent"),
            (with(rsa(2048), json!({"e": "AQAAAAAB"})), "a long exponent"),
        ] {
            let set = set(&[key, ed()]);
            assert_eq!((set.keys.len(), set.improper), (1, 1), "{why}");
        }
    }

    #[test]
    fn what_real_issuers_write_is_taken() {
        let zeros = |key: Value| {
            let n = URL_SAFE_NO_PAD.decode(key["n"].as_str().unwrap()).unwrap();
            let n = [vec![0], n].concat();
            with(key, json!({"n": URL_SAFE_NO_PAD.encode(n)}))
        };
        for (key, algorithm) in [
            (with(rsa(2048), json!({"use": "sig", "x5c": ["MIIC"], "x5t": "abc"})), Rs256),
            (without(with(rsa(2048), json!({"issuer": "https://a.example/v2.0"})), "alg"), Rs256),
            (zeros(rsa(2048)), Rs256),
            (with(rsa(4096), json!({"e": "Aw", "key_ops": ["verify"]})), Rs256),
            (rsa(8192), Rs256),
            (with(ec(), json!({"alg": "ES256", "ext": true})), Es256),
            (with(ed(), json!({"alg": "EdDSA"})), EdDsa),
            (with(ed(), json!({"alg": "Ed25519"})), EdDsa),
        ] {
            let kid = key["kid"].as_str().unwrap().to_owned();
            assert!(set(&[key]).key(Some(&kid), algorithm).is_ok(), "{kid}");
        }
        // The answer of Cloudflare Access.
        let access = json!({
            "keys": [with(rsa(2048), json!({"use": "sig"}))],
            "public_cert": {"kid": "rsa", "cert": "-----BEGIN CERTIFICATE-----"},
            "public_certs": [{"kid": "rsa", "cert": "-----BEGIN CERTIFICATE-----"}],
        });
        assert!(KeySet::parse(&access.to_string()).unwrap().key(Some("rsa"), Rs256).is_ok());
    }

    #[test]
    fn what_is_kept_gives_the_same_keys_and_nothing_else() {
        let keys =
            [with(rsa(2048), json!({"x5c": ["MIIC"]})), without(ec(), "kid"), ed(), rsa(1024)];
        let read = set(&keys);
        let kept = read.to_json();
        let again = KeySet::parse(&kept).unwrap();
        assert_eq!(again.keys, read.keys);
        assert!(!kept.contains("x5c"));
        let jwk: Value = serde_json::from_str(&read.keys[1].to_jwk()).unwrap();
        assert_eq!(jwk, without(without(ec(), "kid"), "use"));
    }

    #[test]
    fn what_is_no_key_set_is_refused() {
        let many = json!({"keys": vec![json!({}); 101]}).to_string();
        for text in [
            "",
            "<!doctype html>",
            "[]",
            "{}",
            "null",
            r#"{"keys":{}}"#,
            r#"{"keys":null}"#,
            r#"{"keys":["a"]}"#,
            r#"{"keys":[[]]}"#,
            r#"{"keys":[]} x"#,
            r#"{"KEYS":[]}"#,
            r#"{"keys":[],"keys":[]}"#,
            &many,
            &format!(r#"{{"keys":[{}{}]}}"#, "[".repeat(500), "]".repeat(500)),
            &format!(r#"{{"keys":[],"rest":{}{}}}"#, "[".repeat(101), "]".repeat(101)),
            &format!(r#"{{"keys":[],"rest":[{}0]}}"#, "0,".repeat(20_000)),
        ] {
            assert!(KeySet::parse(text).unwrap_err().starts_with("must "), "{text:.40}");
        }
        assert_eq!(set(&[]), KeySet::default());
        assert_eq!(
            KeySet::parse(&json!({"keys": vec![ec(); 100]}).to_string()).unwrap().keys.len(),
            1
        );
    }

    #[test]
    fn a_signature_of_another_length_is_none() {
        let set = set(&[rsa(2048), rsa(3072), ec(), ed()]);
        let lengths = |key: &PublicKey| -> Vec<usize> {
            (0..600).filter(|length| key.may_have_made(&vec![0; *length])).collect()
        };
        let found: Vec<Vec<usize>> = set.keys.iter().map(lengths).collect();
        assert_eq!(found, [vec![256], vec![384], vec![64], vec![64]]);
    }
}
