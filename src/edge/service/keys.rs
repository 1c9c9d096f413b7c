//! Signs with the keys of the operator (`SIGNING_JWK`): the JWTs of notifications, and cards.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use wasm_bindgen::JsValue;
use worker::Env;
use worker::js_sys::JSON;

use super::observer::ConsoleObserver;
use super::web_crypto;
use crate::edge::bindings;
use crate::panic::Shared;
use crate::port::{Observation, Observer};
use crate::signing::{Algorithm, Claims, SigningKey, SigningKeys, join};

/// The keys of this server, read once per instance: secrets do not change while an instance runs. `None` if the
/// operator has set no key, or if the secret cannot be used, which is logged.
pub(in crate::edge) fn signing_keys(env: &Env) -> Option<Rc<SigningKeys>> {
    let read = || {
        let (name, text) = bindings::signing_jwk(env)?;
        match SigningKeys::parse(&text) {
            Ok(keys) => Some(Rc::new(keys)),
            Err(reason) => {
                let reason = format!("the secret {name} cannot be used: it {reason}");
                ConsoleObserver::of(env).observe(&Observation::KeyFailed { reason: &reason });
                None
            }
        }
    };
    KEYS.with(|cell| cell.get_or_init(read).clone())
}

/// A signed JWT with these claims; `None` if there is no key.
///
/// # Errors
///
/// The reason why the key cannot be used. The text contains no part of the key.
pub(in crate::edge) async fn sign(
    env: &Env,
    claims: &Claims<'_>,
) -> Result<Option<String>, String> {
    let Some(keys) = signing_keys(env) else { return Ok(None) };
    let input = claims.signing_input(keys.first());
    let signature = sign_with(&keys, 0, &input).await?;
    Ok(Some(join(&input, &signature)))
}

/// The signature of a text with the key at this position.
///
/// # Errors
///
/// As [`sign`].
pub(in crate::edge) async fn sign_with(
    keys: &SigningKeys,
    position: usize,
    input: &str,
) -> Result<Vec<u8>, String> {
    let key = keys.all().get(position).unwrap_or(keys.first());
    // The platform's own message is left out: it might contain parts of the key.
    let refused = |_| {
        format!(
            "the platform refuses the key {} of SIGNING_JWK; its members may not belong together",
            key.kid()
        )
    };
    signature(key, input).await.map_err(refused)
}

async fn signature(key: &SigningKey, input: &str) -> Result<Vec<u8>, JsValue> {
    // Used to import the key and to sign with it.
    let algorithm = JSON::parse(match key.algorithm {
        Algorithm::Es256 => r#"{"name":"ECDSA","namedCurve":"P-256","hash":"SHA-256"}"#,
        Algorithm::EdDsa => r#"{"name":"Ed25519"}"#,
    })?;
    let imported = IMPORTED.with_borrow(|imported| {
        let found = imported.iter().find(|(kid, _)| kid == key.kid());
        found.map(|(_, handle)| handle.clone())
    });
    let handle = match imported {
        Some(handle) => handle,
        None => {
            let private = JSON::parse(key.private_jwk().reveal())?;
            let handle = web_crypto::import("jwk", &private, &algorithm, &["sign"]).await?;
            IMPORTED.change(|imported| {
                imported.retain(|(kid, _)| kid != key.kid());
                imported.push((key.kid().to_owned(), handle.clone()));
            });
            handle
        }
    };
    web_crypto::sign(&algorithm, &handle, input.as_bytes()).await
}

thread_local! {
    static KEYS: OnceCell<Option<Rc<SigningKeys>>> = const { OnceCell::new() };
    /// The imported keys with their key ids, each imported once per instance.
    static IMPORTED: RefCell<Vec<(String, JsValue)>> = const { RefCell::new(Vec::new()) };
}
