//! Requests of ours, to objects and to other servers.

use js_sys::Uint8Array;
use worker::wasm_bindgen::JsValue;
use worker::{Error, Headers, Request, Result};

/// A request whose redirects are not followed.
///
/// `worker::RequestInit` makes one too, but brings all of Cloudflare's image options along, 15 KB of code.
///
/// # Errors
///
/// When the platform refuses the URL or a header.
pub(super) fn new_request(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
) -> Result<Request> {
    let all = Headers::new();
    for (name, value) in headers {
        all.set(name, value)?;
    }
    let init = web_sys::RequestInit::new();
    init.set_method(method);
    init.set_headers(&all.0);
    init.set_redirect(web_sys::RequestRedirect::Manual);
    if let Some(body) = body {
        init.set_body(&JsValue::from_str(body));
    }
    finish(url, &init)
}

/// A POST to an object of ours. Its body goes as bytes: as text it would be copied once more.
///
/// # Errors
///
/// As [`new_request`].
pub(super) fn post_bytes(url: &str, body: &[u8]) -> Result<Request> {
    let init = web_sys::RequestInit::new();
    init.set_method("POST");
    init.set_body(&Uint8Array::from(body));
    finish(url, &init)
}

fn finish(url: &str, init: &web_sys::RequestInit) -> Result<Request> {
    let request = web_sys::Request::new_with_str_and_init(url, init).map_err(Error::from)?;
    Ok(Request::from(request))
}
