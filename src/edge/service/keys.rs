//! Signs the JWTs that go with notifications, with the key that the operator has given (`WEBHOOK_JWK`).

use std::cell::RefCell;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::Env;
use worker::js_sys::{Array, JSON, Promise, Uint8Array};

use super::observer::ConsoleObserver;
use crate::edge::bindings;
use crate::port::{Observation, Observer};
use crate::push::jwk::{Algorithm, Claims, SigningKey, join};

/// A signed JWT with these claims; `None` where the operator has given no key.
///
/// # Errors
///
/// Why the key cannot be used. The text names the variable and nothing of its value.
pub(in crate::edge) async fn sign(
    env: &Env,
    claims: &Claims<'_>,
) -> Result<Option<String>, String> {
    let Some(jwk) = bindings::webhook_jwk(env) else { return Ok(None) };
    let key = SigningKey::parse(&jwk).map_err(refusal)?;
    let input = key.signing_input(claims);
    // The platform's own message is left out: it might contain parts of the key.
    let unusable = "is refused by the platform; its members may not belong together";
    let signature = signature(&key, &input).await.map_err(|_| refusal(unusable))?;
    Ok(Some(join(&input, &signature)))
}

async fn signature(key: &SigningKey, input: &str) -> Result<Vec<u8>, JsValue> {
    // For importing the key and for signing with it.
    let algorithm = JSON::parse(match key.algorithm {
        Algorithm::Es256 => r#"{"name":"ECDSA","namedCurve":"P-256","hash":"SHA-256"}"#,
        Algorithm::EdDsa => r#"{"name":"Ed25519"}"#,
    })?;
    let imported = IMPORTED.with_borrow(Clone::clone);
    let handle = match imported {
        Some(handle) => handle,
        None => {
            let private = JSON::parse(key.private_jwk().reveal())?;
            let usages = Array::of1(&"sign".into());
            let import = subtle_import("jwk", &private, &algorithm, false, &usages)?;
            let handle = JsFuture::from(import).await?;
            IMPORTED.replace(Some(handle.clone()));
            handle
        }
    };
    // A copy: the memory behind the slice may move while the platform signs.
    let bytes = Uint8Array::from(input.as_bytes());
    let signed = JsFuture::from(subtle_sign(&algorithm, &handle, &bytes)?).await?;
    Ok(Uint8Array::new(&signed).to_vec())
}

/// The key set that verifies what [`sign`] signs, as JSON. `None` without a key, and for a key that cannot be
/// used, which is logged.
pub(in crate::edge) fn public_set(env: &Env) -> Option<String> {
    match SigningKey::parse(&bindings::webhook_jwk(env)?) {
        Ok(key) => Some(key.public_set()),
        Err(reason) => {
            let observer = ConsoleObserver::of(env);
            observer.observe(&Observation::KeyFailed { reason: &refusal(reason) });
            None
        }
    }
}

fn refusal(reason: &str) -> String {
    format!("the secret WEBHOOK_JWK cannot be used: it {reason}")
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = importKey)]
    fn subtle_import(
        format: &str,
        key: &JsValue,
        algorithm: &JsValue,
        extractable: bool,
        usages: &Array,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = sign)]
    fn subtle_sign(
        algorithm: &JsValue,
        key: &JsValue,
        data: &Uint8Array,
    ) -> Result<Promise, JsValue>;
}

thread_local! {
    /// The key as the platform holds it, imported once per instance: secrets do not change while one runs.
    static IMPORTED: RefCell<Option<JsValue>> = const { RefCell::new(None) };
}
