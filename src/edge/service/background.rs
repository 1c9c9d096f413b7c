//! Work that goes on when its request is answered, or its client has left.

use std::panic::AssertUnwindSafe;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use worker::js_sys::Promise;

/// Begins some work of the request that is under way, which the platform gives half a minute after its answer. The promise
/// is fulfilled when it is done; no other request may wait for it, since the platform may drop this one with all its promises.
pub(in crate::edge) fn go_on(work: impl Future<Output = ()> + 'static) -> Promise {
    let promise = future_to_promise(AssertUnwindSafe(async move {
        work.await;
        Ok(JsValue::UNDEFINED)
    }));
    platform_goes_on(&promise);
    promise
}

#[wasm_bindgen(module = "/js/background.js")]
extern "C" {
    #[wasm_bindgen(js_name = goOn)]
    fn platform_goes_on(promise: &Promise);
}
