//! Checks signatures with the public keys of other parties, by WebCrypto.

use std::cell::RefCell;

use wasm_bindgen::JsValue;
use worker::js_sys::JSON;

use super::web_crypto;
use crate::auth::PublicKey;
use crate::panic::Shared;
use a2a::sorted::SortedMap;
use a2a_agents::access::JwtAlgorithm;

/// True if a signature over a text was made with the private half of a key; false also for a signature of the wrong length.
///
/// # Errors
///
/// If the platform refuses the key, for example a key whose point is not on its curve.
pub(in crate::edge) async fn is_genuine(
    key: &PublicKey,
    text: &str,
    signature: &[u8],
) -> Result<bool, Unusable> {
    if !key.may_have_made(signature) {
        return Ok(false);
    }
    // Used to import the key and to check with it.
    let algorithm = JSON::parse(match key.algorithm {
        JwtAlgorithm::Rs256 => r#"{"name":"RSASSA-PKCS1-v1_5","hash":"SHA-256"}"#,
        JwtAlgorithm::Es256 => r#"{"name":"ECDSA","namedCurve":"P-256","hash":"SHA-256"}"#,
        JwtAlgorithm::EdDsa => r#"{"name":"Ed25519"}"#,
        JwtAlgorithm::Hs256 => return Err(Unusable),
    });
    let algorithm = algorithm.map_err(|_| Unusable)?;
    let handle = handle(key, &algorithm).await.map_err(|_| Unusable)?;
    let verified = web_crypto::verify(&algorithm, &handle, signature, text.as_bytes()).await;
    Ok(verified.is_ok_and(|is_genuine| is_genuine))
}

/// The key cannot be used.
#[derive(Clone, Copy, Debug)]
pub(in crate::edge) struct Unusable;

/// The imported key; each key is imported once per instance.
async fn handle(key: &PublicKey, algorithm: &JsValue) -> Result<JsValue, JsValue> {
    let jwk = key.to_jwk();
    if let Some(handle) = IMPORTED.with_borrow(|imported| imported.get(&jwk).cloned()) {
        return Ok(handle);
    }
    let handle = web_crypto::import("jwk", &JSON::parse(&jwk)?, algorithm, &["verify"]).await?;
    IMPORTED.change(|imported| {
        if imported.len() >= MAX_IMPORTED {
            imported.clear();
        }
        imported.insert(jwk, handle.clone());
    });
    Ok(handle)
}

thread_local! {
    /// The imported keys by their JWKs; no key belongs to a request.
    static IMPORTED: RefCell<SortedMap<String, JsValue>> = const { RefCell::new(SortedMap::new()) };
}

/// The largest number of keys in an instance. When it is exceeded, all imported keys are dropped.
const MAX_IMPORTED: usize = 128;
