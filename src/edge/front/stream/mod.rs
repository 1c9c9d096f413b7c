//! Streams of server-sent events, which `js/stream.js` moves from the object of a task to a client. Here are its
//! call and the functions that it calls; the events of streams of 1.0 go past WebAssembly.
#![allow(unreachable_pub, reason = "exports for JavaScript have to be public")]

pub(super) mod plan;

use wasm_bindgen::prelude::*;

use crate::edge::service::observer::ConsoleObserver;
use crate::port::{Observation, Observer};
use a2a::model::TaskId;

// Only files of which something is named here are put beside `glue.js`, which imports them.
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

/// An answer instead of a stream, see [`plan::refusal`].
#[wasm_bindgen(js_name = streamRefusal)]
pub fn stream_refusal(hello: &str, failure: &str, has_begun: bool, limit: usize) -> String {
    plan::refusal(hello, failure, has_begun, limit)
}

/// The first event of a task with its generation, see [`plan::opening`].
#[wasm_bindgen(js_name = streamOpening)]
pub fn stream_opening(json: String) -> String {
    plan::opening(json)
}

/// What an event comes to for a client of an older version, see [`plan::event_text`].
#[wasm_bindgen(js_name = streamEvent)]
pub fn stream_event(form: &str, json: &str, generation: Option<f64>, state: &str) -> String {
    plan::event_text(form, json, generation.map(|generation| generation as u64), state)
}

/// Logs that the object of a task did not answer; without a reason, that it sent a frame that cannot be read.
#[wasm_bindgen(js_name = streamTrouble)]
pub fn stream_trouble(task: &str, reason: Option<String>) {
    let task = &TaskId::new(task);
    ConsoleObserver::CONSOLE.observe(&match &reason {
        Some(reason) => Observation::ObjectUnreachable { task: Some(task), reason },
        None => Observation::FrameUnreadable { task },
    });
}
