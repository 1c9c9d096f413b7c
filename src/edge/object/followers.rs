//! The sockets of the followers of a task, on the side of its object.
//!
//! The sockets are hibernatable: an object whose run is over can be evicted while they stay open. The object
//! keeps one thing about a socket, in its attachment: the dialect of a follower that was answered, or that its hello is
//! still to come. Each follower keeps its own position.

use std::cell::Cell;
use std::time::Duration;

use wasm_bindgen::prelude::*;
use worker::{Delay, State, WebSocket, WebSocketPair};

use crate::edge::socket::{CloseCode, close};
use crate::session::{Beginning, Next, frame};
use a2a::binding::http::HttpResponse;
use a2a::dialect::Dialect;

/// How many sockets have a hello that is still to come. Nobody knows yet whether they are a caller's who may follow the
/// task, so they get nothing.
#[derive(Default)]
pub(super) struct Untold(Cell<Option<usize>>);

impl Untold {
    /// Whether there may be such sockets among these.
    fn are_among(&self, sockets: &[WebSocket]) -> bool {
        // An object that wakes has forgotten it. Asking each socket costs a crossing into JavaScript.
        let count = self.0.get().unwrap_or_else(|| sockets.iter().filter(|s| is_untold(s)).count());
        self.0.set(Some(count));
        count > 0
    }

    /// One comes.
    fn note_one(&self) {
        self.0.set(self.0.get().map(|count| count + 1));
    }

    /// One of them has told, or is closed.
    pub(super) fn forget_one(&self) {
        self.0.set(self.0.get().map(|count| count.saturating_sub(1)));
    }
}

/// A socket that was accepted.
pub(super) struct Accepted {
    /// Its two ends. The client's goes to the follower.
    pub(super) pair: WebSocketPair,
    /// Whether the other followers of the task are as many as there may be.
    pub(super) is_surplus: bool,
}

/// Accepts one more follower, whose hello came with its upgrade or is still to come. Whether the task may have it is
/// for the caller of the task to know, and decided when the hello is read. Only of those whose hello is still to come
/// there are never more than `limit`.
pub(super) fn accept(
    state: &State,
    untold: &Untold,
    limit: usize,
    has_told: bool,
) -> worker::Result<Option<Accepted>> {
    // Only counted: each of them would cross into WebAssembly, at every follower that comes.
    let count = state.as_raw().unchecked_ref::<RawState>().get_web_sockets().length() as usize;
    if count == 0 {
        untold.0.set(Some(0));
    }
    let is_surplus = count >= limit;
    if is_surplus
        && state.get_websockets().iter().filter(|socket| is_untold(socket)).count() >= limit
    {
        return Ok(None);
    }
    let pair = WebSocketPair::new()?;
    state.accept_web_socket(&pair.server);
    if !has_told {
        let _ = raw(&pair.server).serialize_attachment(&UNTOLD);
        untold.note_one();
    }
    Ok(Some(Accepted { pair, is_surplus }))
}

/// Takes note that the hello of a socket has come, and that it may follow the task. Gives the number of all sockets.
pub(super) fn note_told(state: &State, socket: &WebSocket) -> usize {
    let _ = raw(socket).serialize_attachment(&JsValue::NULL);
    state.as_raw().unchecked_ref::<RawState>().get_web_sockets().length() as usize
}

/// Sends a frame to all followers, if there are any. The output gate holds it until all rows written before are
/// durable.
pub(super) fn publish(state: &State, untold: &Untold, frame: &dyn Fn() -> Option<String>) -> bool {
    let sockets = state.get_websockets();
    if sockets.is_empty() {
        return false;
    }
    let has_untold = untold.are_among(&sockets);
    if let Some(text) = frame().map(|text| JsValue::from_str(&text)) {
        for socket in sockets.iter().filter(|socket| !has_untold || !is_untold(socket)) {
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
    attachment(socket).is_some_and(|attachment| attachment.is_truthy())
}

/// Whether the hello of a socket is still to come.
fn is_untold(socket: &WebSocket) -> bool {
    attachment(socket).and_then(|attachment| attachment.as_bool()) == Some(false)
}

fn attachment(socket: &WebSocket) -> Option<JsValue> {
    raw(socket).deserialize_attachment().ok()
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

/// The attachment of a socket whose hello is still to come. Reading a text of it would cost a crossing more.
const UNTOLD: JsValue = JsValue::FALSE;

/// How long after the last event sockets are closed: by then it is delivered.
const LATE: Duration = Duration::from_millis(250);

/// How much may wait for a follower that does not read, in bytes.
const MAX_BUFFERED_BYTES: f64 = 4.0 * 1024.0 * 1024.0;
