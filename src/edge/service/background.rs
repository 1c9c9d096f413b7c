//! Work that continues after its request is answered, or after the client has disconnected.

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use worker::js_sys::Promise;

use crate::panic::Catching;

/// Starts work that belongs to the current request. The platform continues the work for up to half a minute after the answer.
/// The promise is fulfilled when the work is done. Other requests must not wait for the promise, since the platform may drop
/// this request with all its promises.
pub(in crate::edge) fn go_on(work: impl Future<Output = ()> + 'static) -> Promise {
    promise_of(Catching::new(Box::pin(work)))
}

fn promise_of(work: Catching<'static, ()>) -> Promise {
    let promise = future_to_promise(async move {
        // The log has the message of a panic.
        let _ = work.await;
        Ok(JsValue::UNDEFINED)
    });
    platform_goes_on(&promise);
    promise
}

#[wasm_bindgen(module = "/js/background.js")]
extern "C" {
    #[wasm_bindgen(js_name = goOn)]
    fn platform_goes_on(promise: &Promise);
}
