//! The sockets of the followers of a task, on the side of its object.
//!
//! The sockets are hibernatable: an object whose run is over can be evicted while they stay open. The object stores one
//! fact about a socket, in its attachment: the dialect of an answered follower, or that the hello has not arrived yet.
//! Each follower tracks its own position.

use std::cell::Cell;
use std::time::Duration;

use wasm_bindgen::prelude::*;
use worker::{Delay, State, WebSocket, WebSocketPair};

use crate::edge::socket::{CloseCode, close};
use crate::session::{Beginning, Next, frame};
use a2a::binding::http::HttpResponse;
use a2a::dialect::Dialect;

/// The number of sockets whose hello has not arrived yet. Until then it is unknown if their caller may follow the task,
/// so they receive no events.
#[derive(Default)]
pub(super) struct Untold(Cell<Option<usize>>);

impl Untold {
    /// True if one of these sockets still waits for its hello.
    fn are_among(&self, sockets: &[WebSocket]) -> bool {
        // An object that wakes has lost the count. Counting reads the attachment of each socket, which costs a crossing
        // into JavaScript.
        let count = self.0.get().unwrap_or_else(|| sockets.iter().filter(|s| is_untold(s)).count());
        self.0.set(Some(count));
        count > 0
    }

    /// Counts a socket that was accepted without a hello.
    fn note_one(&self) {
        self.0.set(self.0.get().map(|count| count + 1));
    }

    /// Counts down: the hello of a socket has arrived, or the socket was closed.
    pub(super) fn forget_one(&self) {
        self.0.set(self.0.get().map(|count| count.saturating_sub(1)));
    }
}

/// A socket that was accepted.
pub(super) struct Accepted {
    /// The two ends of the socket. The client's end is sent to the follower.
    pub(super) pair: WebSocketPair,
    /// True if the limit of followers of the task was already reached.
    pub(super) is_surplus: bool,
}

/// Accepts one more follower, whose hello was sent with the upgrade or follows as a message. The owner check happens
/// later, when the hello is read. At the limit, a socket is refused only if `limit` sockets still wait for their hello.
pub(super) fn accept(
    state: &State,
    untold: &Untold,
    limit: usize,
    has_told: bool,
) -> worker::Result<Option<Accepted>> {
    // Counted in JavaScript: otherwise every socket would cross into WebAssembly each time a follower connects.
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

/// Records that the hello of a socket has arrived and that its caller may follow the task. Returns the number of all
/// sockets.
pub(super) fn note_told(state: &State, socket: &WebSocket) -> usize {
    let _ = raw(socket).serialize_attachment(&JsValue::NULL);
    state.as_raw().unchecked_ref::<RawState>().get_web_sockets().length() as usize
}

/// Sends a frame to all followers, if there are any. The platform's output gate holds the frame until all rows written
/// before it are durable.
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

/// Closes the sockets of the answered followers shortly after the last event. Closing at once would delay the last
/// deliveries, because of the close frames from both ends.
///
/// A follower whose hello has not arrived yet is answered when the hello arrives.
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

/// Sends a follower the refusal as its last frame, and closes its socket.
pub(super) fn refuse(socket: &WebSocket, answer: &HttpResponse) {
    let frame = frame::refusal(answer.status, &answer.headers, &answer.body);
    send(socket, &JsValue::from_str(&frame));
    close(socket, CloseCode::Over);
}

/// Sends one frame. The runtime removes a socket whose other end is gone. A socket whose other end does not read is
/// closed here; its follower connects again and requests the events after its position.
fn send(socket: &WebSocket, text: &JsValue) {
    let raw = raw(socket);
    let is_full = raw.buffered_amount().is_some_and(|bytes| bytes > MAX_BUFFERED_BYTES);
    if is_full || raw.send_value(text).is_err() {
        close(socket, CloseCode::TooSlow);
    }
}

/// True if the follower behind a socket was answered, by this instance of the object or by an earlier instance.
fn is_answered(socket: &WebSocket) -> bool {
    attachment(socket).is_some_and(|attachment| attachment.is_truthy())
}

/// True if the hello of a socket has not arrived yet.
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

/// The attachment of a socket whose hello has not arrived yet. No string is used, because reading a string costs one more
/// crossing between JavaScript and WebAssembly.
const UNTOLD: JsValue = JsValue::FALSE;

/// The delay between the last event and the closing of the sockets; the event is delivered by then.
const LATE: Duration = Duration::from_millis(250);

/// The largest number of bytes that may be buffered for a follower that does not read.
const MAX_BUFFERED_BYTES: f64 = 4.0 * 1024.0 * 1024.0;
