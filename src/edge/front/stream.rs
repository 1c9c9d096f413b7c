//! Streams of server-sent events, which `js/stream.js` passes from the object of a task to a client. This file imports
//! the scripts of streams, and exports the functions that they call. Events of streams of 1.0 do not pass through
//! WebAssembly.
#![allow(unreachable_pub, reason = "exports for JavaScript have to be public")]

use wasm_bindgen::prelude::*;

use crate::edge::service::observer::ConsoleObserver;
use crate::front::stream;
use crate::port::{Observation, Observer};
use a2a::model::TaskId;

// wasm-bindgen copies only files from which an item is imported here to the folder of `glue.js`, which imports these
// files.
#[wasm_bindgen(module = "/js/stream.js")]
extern "C" {
    #[wasm_bindgen(js_name = open)]
    #[allow(dead_code, reason = "`glue.js` calls it")]
    fn open_with(namespace: &JsValue, address: &str, plan: &str, rust: &JsValue) -> JsValue;
}
#[wasm_bindgen(module = "/js/client-stream.js")]
extern "C" {
    #[allow(dead_code, reason = "`stream.js` uses it")]
    type ClientStream;
}

/// The answer that replaces a stream, see [`stream::refusal`].
#[wasm_bindgen(js_name = streamRefusal)]
pub fn stream_refusal(hello: &str, failure: &str, has_begun: bool, limit: usize) -> String {
    stream::refusal(hello, failure, has_begun, limit)
}

/// The first event of a task with its generation, see [`stream::opening`].
#[wasm_bindgen(js_name = streamOpening)]
pub fn stream_opening(json: String) -> String {
    stream::opening(json)
}

/// The form of an event for a client of an older version, see [`stream::event_text`].
#[wasm_bindgen(js_name = streamEvent)]
pub fn stream_event(form: &str, json: &str, generation: Option<f64>, state: &str) -> String {
    stream::event_text(form, json, generation.map(|generation| generation as u64), state)
}

/// Logs the reason why the object of a task did not answer; without a reason, logs that the object sent an unreadable
/// frame.
#[wasm_bindgen(js_name = streamTrouble)]
pub fn stream_trouble(task: &str, reason: Option<String>) {
    let task = TaskId::new(task);
    let task = task.as_ref();
    ConsoleObserver::CONSOLE.observe(&match &reason {
        Some(reason) => Observation::ObjectUnreachable { task, reason },
        None => Observation::FrameUnreadable { task },
    });
}
