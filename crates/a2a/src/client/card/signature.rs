//! Verifies the signatures of cards (spec §8.4).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::RemoteCard;
use crate::canonical::forms_of;
use crate::client::address::Address;
use crate::client::{Client, ClientError};
use crate::http::HttpRequest;
use crate::model::{MAX_DOCUMENT_VALUES, read_foreign};
use crate::sorted::SortedMap;

/// The cards whose signatures the client verifies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// Signatures are ignored.
    #[default]
    Never,
    /// A signed card must have a valid signature.
    IfSigned,
    /// Every card must have a valid signature.
    Required,
}

/// Verifies signatures with public keys, by the cryptography of the platform.
pub trait Verifier {
    /// True if the private half of the key, given as a JWK (RFC 7517), has signed the text. `algorithm` is `ES256`, `RS256`
    /// or `EdDSA`. False also if the key or the signature does not belong to the algorithm.
    fn verify<'a>(
        &'a self,
        jwk: &'a str,
        algorithm: &'a str,
        text: &'a [u8],
        signature: &'a [u8],
    ) -> LocalBoxFuture<'a, bool>;
}

/// A signature of a card.
struct Signature {
    /// The protected header, in its signed form.
    protected: String,
    algorithm: String,
    kid: String,
    jku: Address,
    bytes: Vec<u8>,
}

impl Client {
    /// Verifies the signatures of a card if the settings require this: at least one signature must be valid.
    pub(super) async fn verify(&self, card: &RemoteCard) -> Result<(), ClientError> {
        let signatures = card.json.get("signatures").and_then(Value::as_array);
        let signatures = signatures.map(Vec::as_slice).unwrap_or_default();
        match self.settings().verify {
            Verify::Never => return Ok(()),
            Verify::IfSigned if signatures.is_empty() => return Ok(()),
            Verify::Required if signatures.is_empty() => return Err(refused("it is not signed")),
            Verify::IfSigned | Verify::Required => {}
        }
        let verifier = self.0.verifier.as_deref();
        let verifier = verifier.ok_or_else(|| {
            let reason = "signatures of cards are to be verified, and this client has no verifier";
            ClientError::Settings(reason.to_owned())
        })?;
        let payloads = payloads(&card.json);
        let mut key_sets = SortedMap::new();
        let mut why = refused("none of its signatures has a form that is known");
        for json in signatures.iter().take(MAX_SIGNATURES) {
            let signature = match self.signature(json) {
                Ok(signature) => signature,
                Err(reason) => {
                    why = refused(reason);
                    continue;
                }
            };
            let jku = signature.jku.url();
            if !key_sets.contains_key(&jku) {
                if key_sets.len() >= MAX_KEY_SETS {
                    continue;
                }
                let keys = self.key_set(&signature.jku).await.map_err(|error| match error {
                    error if error.may_pass() => error,
                    error => ClientError::Card(format!("the keys of its signature: {error}")),
                })?;
                key_sets.insert(jku.clone(), keys);
            }
            let keys = key_sets.get(&jku).map(Vec::as_slice).unwrap_or_default();
            let of_name =
                |key: &&Value| key.get("kid").and_then(Value::as_str) == Some(&signature.kid);
            let Some(key) = keys.iter().find(of_name) else {
                why = refused("the key of its signature is not in the key set");
                continue;
            };
            let key = key.to_string();
            for payload in &payloads {
                let text = format!("{}.{payload}", signature.protected);
                let Signature { algorithm, bytes, .. } = &signature;
                if verifier.verify(&key, algorithm, text.as_bytes(), bytes).await {
                    return Ok(());
                }
            }
            why = refused("its signature is wrong");
        }
        Err(why)
    }

    /// Parses a signature, and checks that its key set may be fetched.
    fn signature(&self, json: &Value) -> Result<Signature, &'static str> {
        let text = |name: &str| json.get(name).and_then(Value::as_str);
        let malformed = "its signature is malformed";
        let protected = text("protected").ok_or(malformed)?;
        let bytes = text("signature").and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        let header = URL_SAFE_NO_PAD.decode(protected).map_err(|_| malformed)?;
        let header = read_foreign(&header, MAX_DOCUMENT_VALUES).map_err(|_| malformed)?;
        let said = |name: &str| header.get(name).and_then(Value::as_str);
        if header.get("crit").is_some() || header.get("b64").is_some() {
            return Err("its signature asks for extensions of its format");
        }
        let algorithm = said("alg").filter(|name| ALGORITHMS.contains(name));
        let algorithm = algorithm.ok_or("its signature is none of ES256, RS256 and EdDSA")?;
        let kid = said("kid").ok_or("its signature names no key (kid)")?;
        let jku = said("jku").and_then(Address::parse);
        let jku = jku.ok_or("its signature names no key set (jku)")?;
        let home = Address::of_settings(&self.settings().url).map_err(|_| malformed)?;
        let is_named = self.settings().jwks_hosts.iter().any(|host| jku.is_at(host));
        if !(home.is_home_of(&jku) || jku.is_safe() && is_named) {
            return Err("the key set of its signature is on a host that the settings do not name");
        }
        Ok(Signature {
            protected: protected.to_owned(),
            algorithm: algorithm.to_owned(),
            kid: kid.to_owned(),
            jku,
            bytes: bytes.ok_or(malformed)?,
        })
    }

    /// Fetches the keys of a key set.
    async fn key_set(&self, place: &Address) -> Result<Vec<Value>, ClientError> {
        let make = || {
            let request = HttpRequest::get(place.url()).with_header("Accept", "application/json");
            let timeout_ms = self.settings().request_timeout_ms;
            Ok(HttpRequest { timeout_ms, max_bytes: MAX_KEY_SET_BYTES, ..request })
        };
        let answer = self.dispatch(None, &make).await?.text().await?.success()?;
        let mut set: Value = answer.json_within(MAX_DOCUMENT_VALUES)?;
        match set.get_mut("keys").map(Value::take) {
            Some(Value::Array(keys)) => Ok(keys),
            _ => Err(ClientError::Unexpected("their answer is no JWK Set".to_owned())),
        }
    }
}

/// The canonical forms of a card that may have been signed, in base64url.
fn payloads(card: &Value) -> Vec<String> {
    let mut card = card.clone();
    if let Some(members) = card.as_object_mut() {
        members.shift_remove("signatures");
    }
    forms_of(&card).iter().map(|form| URL_SAFE_NO_PAD.encode(form)).collect()
}

fn refused(reason: &str) -> ClientError {
    ClientError::Card(reason.to_owned())
}

const ALGORITHMS: [&str; 3] = ["ES256", "RS256", "EdDSA"];

/// The largest number of signatures of a card that are checked.
const MAX_SIGNATURES: usize = 16;

/// The largest number of key sets that are fetched for a card.
const MAX_KEY_SETS: usize = 3;

/// The largest key set, in bytes.
const MAX_KEY_SET_BYTES: usize = 256 * 1024;

#[cfg(test)]
mod tests;
