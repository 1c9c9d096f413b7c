//! The part of WebCrypto that the Worker uses. No other module calls WebCrypto.
//!
//! Errors are the platform's own. Their texts might contain parts of keys, so they must not be shown.

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::js_sys::{Array, Promise, Uint8Array};

/// Imports a key for these usages. The imported key cannot be exported. `format` is `jwk` for a JWK as an object, `raw` for
/// bytes.
pub(super) async fn import(
    format: &str,
    key: &JsValue,
    algorithm: &JsValue,
    usages: &[&str],
) -> Result<JsValue, JsValue> {
    let usages: Array = usages.iter().map(|usage| JsValue::from_str(usage)).collect();
    JsFuture::from(subtle_import(format, key, algorithm, false, &usages)?).await
}

/// The signature of a text.
pub(super) async fn sign(
    algorithm: &JsValue,
    key: &JsValue,
    text: &[u8],
) -> Result<Vec<u8>, JsValue> {
    bytes_of(subtle_sign(algorithm, key, &copy(text))?).await
}

/// True if a signature over a text was made with the private half of a key.
pub(super) async fn verify(
    algorithm: &JsValue,
    key: &JsValue,
    signature: &[u8],
    text: &[u8],
) -> Result<bool, JsValue> {
    let verdict = subtle_verify(algorithm, key, &copy(signature), &copy(text))?;
    Ok(JsFuture::from(verdict).await?.as_bool() == Some(true))
}

/// The encrypted text.
pub(super) async fn encrypt(
    algorithm: &JsValue,
    key: &JsValue,
    text: &[u8],
) -> Result<Vec<u8>, JsValue> {
    bytes_of(subtle_encrypt(algorithm, key, &copy(text))?).await
}

/// The decrypted text.
pub(super) async fn decrypt(
    algorithm: &JsValue,
    key: &JsValue,
    text: &[u8],
) -> Result<Vec<u8>, JsValue> {
    bytes_of(subtle_decrypt(algorithm, key, &copy(text))?).await
}

/// A copy for the platform: the memory behind a slice may move while the platform works.
pub(super) fn copy(bytes: &[u8]) -> Uint8Array {
    Uint8Array::from(bytes)
}

async fn bytes_of(promise: Promise) -> Result<Vec<u8>, JsValue> {
    Ok(Uint8Array::new(&JsFuture::from(promise).await?).to_vec())
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

    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = verify)]
    fn subtle_verify(
        algorithm: &JsValue,
        key: &JsValue,
        signature: &Uint8Array,
        data: &Uint8Array,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = encrypt)]
    fn subtle_encrypt(
        algorithm: &JsValue,
        key: &JsValue,
        data: &Uint8Array,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = decrypt)]
    fn subtle_decrypt(
        algorithm: &JsValue,
        key: &JsValue,
        data: &Uint8Array,
    ) -> Result<Promise, JsValue>;
}
