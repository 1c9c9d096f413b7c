//! Streams of server-sent events, which `js/stream.js` moves from the object of a task to a client. Here are its
//! call and the functions that it calls; the events of streams of 1.0 go past WebAssembly.
#![allow(unreachable_pub, reason = "exports for JavaScript have to be public")]

pub(super) mod plan;

use wasm_bindgen::prelude::*;
use worker::Env;

use self::plan::plan;
use crate::edge::address::ObjectId;
use crate::edge::bindings;
use crate::edge::command::StreamCommand;
use crate::edge::service::observer::ConsoleObserver;
use crate::port::{Observation, Observer};
use a2a::model::TaskId;

/// Opens the stream that a client wants from an object. The response is for the client, be it a stream or a refusal.
///
/// # Errors
///
/// When the platform fails to build a response.
pub(super) async fn open(
    env: &Env,
    object: &ObjectId,
    hello: StreamCommand,
) -> worker::Result<worker::Response> {
    let namespace = JsValue::from(bindings::tasks(env)?);
    let plan = plan(hello)?;
    let response = open_stream(&namespace, object.as_str(), &plan).await?;
    Ok(response.unchecked_into::<web_sys::Response>().into())
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = openStream)]
    async fn open_stream(
        namespace: &JsValue,
        address: &str,
        plan: &str,
    ) -> Result<JsValue, JsValue>;
}

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
