//! The sockets of the followers of a task, on the side of its object.
//!
//! The sockets are hibernatable: an object whose run is over can be evicted while they stay open. The object
//! keeps one thing about a socket, in its attachment: the dialect of a follower that was answered. Each follower keeps
//! its own position.

use std::time::Duration;

use wasm_bindgen::prelude::*;
use worker::{Delay, State, WebSocket, WebSocketPair};

use crate::edge::socket::{CloseCode, close};
use crate::session::{Beginning, Next, frame};
use a2a::binding::http::HttpResponse;
use a2a::dialect::Dialect;

/// Accepts one more follower, unless there are `limit` already. The client's end of the pair goes to it.
pub(super) fn accept(state: &State, limit: usize) -> worker::Result<Option<WebSocketPair>> {
    // Only counted: each of them would cross into WebAssembly, at every follower that comes.
    if state.as_raw().unchecked_ref::<RawState>().get_web_sockets().length() as usize >= limit {
        return Ok(None);
    }
    let pair = WebSocketPair::new()?;
    state.accept_web_socket(&pair.server);
    Ok(Some(pair))
}

/// Sends a frame to all followers, if there are any. The output gate holds it until all rows written before are
/// durable.
pub(super) fn publish(state: &State, frame: &dyn Fn() -> Option<String>) -> bool {
    let sockets = state.get_websockets();
    if sockets.is_empty() {
        return false;
    }
    if let Some(text) = frame().map(|text| JsValue::from_str(&text)) {
        for socket in &sockets {
            send(socket, &text);
        }
    }
    true
}

/// Closes the sockets of the followers that were answered, a while after the last event: what the two ends of each say
/// about it would otherwise hold up the last deliveries.
///
/// A follower whose hello is still on its way is answered when that comes.
pub(super) async fn close_late(state: &State) {
    Delay::from(LATE).await;
    for socket in state.get_websockets().iter().filter(|socket| is_answered(socket)) {
        close(socket, CloseCode::Over);
    }
}

/// Answers a follower that speaks this dialect: sends its first frames.
pub(super) fn begin(socket: &WebSocket, dialect: Dialect, beginning: &Beginning) {
    let _ = raw(socket).serialize_attachment(&JsValue::from_str(dialect.version()));
    for frame in &beginning.frames {
        send(socket, &JsValue::from_str(frame));
    }
    match beginning.next {
        Next::Events => {}
        Next::MoreOfTheLog => close(socket, CloseCode::More),
        Next::Nothing => close(socket, CloseCode::Over),
    }
}

/// Tells a follower that nothing, or nothing more, will come.
pub(super) fn refuse(socket: &WebSocket, answer: &HttpResponse) {
    let frame = frame::refusal(answer.status, &answer.headers, &answer.body);
    send(socket, &JsValue::from_str(&frame));
    close(socket, CloseCode::Over);
}

/// Sends one frame. The runtime removes a socket whose other end is gone. A socket whose other end does not read
/// is closed here; its follower connects again and asks for what comes after its position.
fn send(socket: &WebSocket, text: &JsValue) {
    let raw = raw(socket);
    let is_full = raw.buffered_amount().is_some_and(|bytes| bytes > MAX_BUFFERED_BYTES);
    if is_full || raw.send_value(text).is_err() {
        close(socket, CloseCode::TooSlow);
    }
}

/// Whether the follower behind a socket was answered, by this instance of the object or by one before it.
fn is_answered(socket: &WebSocket) -> bool {
    raw(socket).deserialize_attachment().is_ok_and(|attachment| attachment.is_truthy())
}

fn raw(socket: &WebSocket) -> &RawSocket {
    socket.as_ref().unchecked_ref()
}

#[wasm_bindgen]
extern "C" {
    type RawState;
    type RawSocket;

    #[wasm_bindgen(method, js_name = getWebSockets)]
    fn get_web_sockets(this: &RawState) -> js_sys::Array;

    #[wasm_bindgen(method, catch, js_name = serializeAttachment)]
    fn serialize_attachment(this: &RawSocket, value: &JsValue) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch, js_name = deserializeAttachment)]
    fn deserialize_attachment(this: &RawSocket) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch, js_name = send)]
    fn send_value(this: &RawSocket, text: &JsValue) -> Result<(), JsValue>;

    #[wasm_bindgen(method, getter, js_name = bufferedAmount)]
    fn buffered_amount(this: &RawSocket) -> Option<f64>;
}

/// How long after the last event sockets are closed: by then it is delivered.
const LATE: Duration = Duration::from_millis(250);

/// How much may wait for a follower that does not read, in bytes.
const MAX_BUFFERED_BYTES: f64 = 4.0 * 1024.0 * 1024.0;
