//! Signatures of agent cards: JWS (RFC 7515) without the payload, which verifiers compute from the card (spec §8.4).

use a2a::model::read_own;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::SigningKeys;
use a2a::canonical::forms_of;

/// The signatures to make for a card: one for each of its canonical forms and each key, those of the first key first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardSignatures {
    /// For each key: its position, and the protected header, which is signed before the full stop.
    parts: Vec<(usize, String)>,
    /// The canonical forms, in base64url.
    payloads: Vec<String>,
}

impl CardSignatures {
    /// Prepares the signatures of a card, which is JSON without signatures. Its key set is served below this origin.
    ///
    /// # Errors
    ///
    /// If the card is not JSON.
    pub fn new(card: &str, origin: &str, keys: &SigningKeys) -> serde_json::Result<Self> {
        let card: Value = read_own(card)?;
        let payloads = forms_of(&card).iter().map(|form| URL_SAFE_NO_PAD.encode(form)).collect();
        Ok(Self { parts: protected_headers(origin, keys), payloads })
    }

    /// The texts to sign, in this order, each with the position of its key.
    pub fn inputs(&self) -> Vec<(usize, String)> {
        let of_key = |(key, protected): &(usize, String)| {
            let input = |payload: &String| (*key, format!("{protected}.{payload}"));
            self.payloads.iter().map(input).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_key).collect()
    }

    /// The member `signatures` of the card, as JSON, from the signatures of all inputs in their order.
    pub fn member(&self, signatures: &[Vec<u8>]) -> String {
        let protected = self
            .parts
            .iter()
            .flat_map(|(_, protected)| std::iter::repeat_n(protected, self.payloads.len()));
        let written = protected.zip(signatures).map(|(protected, signature)| {
            json!({"protected": protected, "signature": URL_SAFE_NO_PAD.encode(signature)})
        });
        Value::Array(written.collect()).to_string()
    }

    /// Identifies a set of signatures: changes with the keys or the origin. Does not contain the signatures, since
    /// ECDSA produces another signature each time.
    pub fn mark(origin: &str, keys: &SigningKeys) -> String {
        let protected = protected_headers(origin, keys).into_iter();
        protected.map(|(_, protected)| protected).collect::<Vec<_>>().join(".")
    }
}

/// The protected header of each key, in base64url, with the position of the key.
fn protected_headers(origin: &str, keys: &SigningKeys) -> Vec<(usize, String)> {
    let header = |(position, key): (usize, &super::SigningKey)| {
        let (alg, kid) = (key.algorithm.name(), key.kid());
        let jku = format!("{origin}/.well-known/jwks.json");
        let header = json!({"alg": alg, "jku": jku, "kid": kid, "typ": "JOSE"});
        (position, URL_SAFE_NO_PAD.encode(header.to_string()))
    };
    keys.all().iter().enumerate().map(header).collect()
}

/// A card with its member `signatures`.
pub fn with_signatures(card: &str, member: &str) -> String {
    match card.trim_end().strip_suffix('}') {
        Some(open) if open.trim_end().ends_with('{') => format!("{open}\"signatures\":{member}}}"),
        Some(open) => format!("{open},\"signatures\":{member}}}"),
        None => card.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::jwk::tests::{ED25519, P256};
    use super::*;

    #[test]
    fn every_form_is_signed_with_every_key() {
        let keys = SigningKeys::parse(&format!(r#"{{"keys":[{P256},{ED25519}]}}"#)).unwrap();
        let card = r#"{"name":"A","skills":[]}"#;
        let signatures = CardSignatures::new(card, "https://a.example", &keys).unwrap();
        let inputs = signatures.inputs();
        let read = |text: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(text).unwrap();
            serde_json::from_slice::<Value>(&bytes).unwrap()
        };
        let (header, payload): (Vec<Value>, Vec<Value>) = inputs
            .iter()
            .map(|(_, input)| input.split_once('.').unwrap())
            .map(|(header, payload)| (read(header), read(payload)))
            .unzip();
        let jku = "https://a.example/.well-known/jwks.json";
        let es256 = json!({"alg": "ES256", "jku": jku, "kid": "1", "typ": "JOSE"});
        let kid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
        let ed25519 = json!({"alg": "EdDSA", "jku": jku, "kid": kid, "typ": "JOSE"});
        assert_eq!(header, [es256.clone(), es256, ed25519.clone(), ed25519]);
        let (whole, filled) = (json!({"name": "A", "skills": []}), json!({"name": "A"}));
        assert_eq!(payload, [whole.clone(), filled.clone(), whole, filled]);
        assert_eq!(inputs.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [0, 0, 1, 1]);

        let member = signatures.member(&[vec![1], vec![2], vec![3], vec![4]]);
        let signed: Value = serde_json::from_str(&with_signatures(card, &member)).unwrap();
        let of = |index: usize| signed["signatures"][index].clone();
        for (index, signature) in ["AQ", "Ag", "Aw", "BA"].into_iter().enumerate() {
            let protected = inputs[index].1.split('.').next().unwrap();
            assert_eq!(of(index), json!({"protected": protected, "signature": signature}));
        }
        assert_eq!(of(4), Value::Null);
        assert_eq!(signed["name"], "A");
    }

    #[test]
    fn signatures_stand_at_the_end_of_any_card() {
        for (card, signed) in [
            ("{}", r#"{"signatures":[]}"#),
            (r#"{"a":{}}"#, r#"{"a":{},"signatures":[]}"#),
            (" { \"a\": 1 }\n", r#" { "a": 1 ,"signatures":[]}"#),
            ("none", "none"),
        ] {
            assert_eq!(with_signatures(card, "[]"), signed);
        }
    }

    #[test]
    fn the_mark_depends_on_keys_and_origin() {
        let [one, two] = [P256, ED25519].map(|jwk| SigningKeys::parse(jwk).unwrap());
        let both = SigningKeys::parse(&format!(r#"{{"keys":[{P256},{ED25519}]}}"#)).unwrap();
        let marks = [
            CardSignatures::mark("https://a", &one),
            CardSignatures::mark("https://b", &one),
            CardSignatures::mark("https://a", &two),
            CardSignatures::mark("https://a", &both),
        ];
        assert_eq!(marks[0], CardSignatures::mark("https://a", &one));
        for (index, mark) in marks.iter().enumerate() {
            assert!(!marks[index + 1..].contains(mark), "{mark}");
        }
    }
}
