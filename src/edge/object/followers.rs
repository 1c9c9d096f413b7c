//! The sockets of the followers of a task, on the side of its object.
//!
//! The sockets are hibernatable: an object whose run is over can be evicted while they stay open. The object stores one
//! fact about a socket, in its attachment: the dialect of an answered follower, or that the hello has not arrived yet.
//! Each follower tracks its own position.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use wasm_bindgen::prelude::*;
use worker::{Delay, State, WebSocket};

use crate::edge::socket::{CloseCode, close};
use crate::forms::ask::in_header;
use crate::session::{Beginning, Next, frame};
use a2a::binding::http::HttpResponse;
use a2a::dialect::Dialect;

/// What this instance of the object knows about the number of sockets, so that they are seldom counted.
#[derive(Default)]
pub(super) struct SocketCounts {
    /// The sockets at most: those that were counted last, and those that were accepted since. `None` in an object that has
    /// just woken.
    most: Cell<Option<usize>>,
    /// The sockets whose hello has not arrived yet. Until then it is unknown if their caller may follow the task, so they
    /// receive no events. `None` in an object that has just woken.
    untold: Cell<Option<usize>>,
}

impl SocketCounts {
    /// True if there are at least `limit` sockets.
    fn reach(&self, limit: usize, state: &State) -> bool {
        if self.most.get().is_none_or(|most| most >= limit) {
            // The platform makes a list of all sockets for that.
            self.note(count(state.as_raw()));
        }
        self.most.get().is_some_and(|most| most >= limit)
    }

    /// Notes the present number of sockets.
    fn note(&self, count: usize) {
        self.most.set(Some(count));
        if count == 0 {
            self.untold.set(Some(0));
        }
    }

    /// True if one of the sockets still waits for its hello.
    fn has_untold(&self, state: &State) -> bool {
        // Counting reads the attachment of each socket.
        let count = self.untold.get().unwrap_or_else(|| count_untold(state.as_raw()));
        self.untold.set(Some(count));
        count > 0
    }

    /// Counts a socket that was accepted.
    fn note_one(&self, has_told: bool) {
        self.most.set(self.most.get().map(|most| most + 1));
        if !has_told {
            self.untold.set(self.untold.get().map(|count| count + 1));
        }
    }

    /// Counts down: the hello of a socket has arrived, or the socket was closed.
    pub(super) fn forget_untold(&self) {
        self.untold.set(self.untold.get().map(|count| count.saturating_sub(1)));
    }
}

/// A socket that was accepted.
pub(super) struct Accepted {
    /// The end that is sent to the follower.
    client: JsValue,
    /// The object's end.
    pub(super) server: WebSocket,
    /// True if the limit of followers of the task was already reached.
    pub(super) is_surplus: bool,
}

impl Accepted {
    /// The answer to the upgrade. `told` is the header with the first frame; `None`, if the hello has not arrived yet, leaves the header out.
    pub(super) fn answer(&self, told: Option<&str>) -> Result<JsValue, JsValue> {
        upgraded(&self.client, told)
    }
}

/// A follower whose hello has arrived, and who is answered.
pub(super) struct Follower<'a> {
    pub(super) socket: &'a WebSocket,
    /// True until the first frame, if that may go with the answer to the upgrade.
    is_first: Cell<bool>,
    with_answer: RefCell<String>,
}

impl<'a> Follower<'a> {
    /// A follower whose upgrade is not answered yet if `is_upgrading`.
    pub(super) fn new(socket: &'a WebSocket, is_upgrading: bool) -> Self {
        Self { socket, is_first: Cell::new(is_upgrading), with_answer: RefCell::default() }
    }

    /// The first frame for the answer to the upgrade, as the value of a header; empty if it went over the socket.
    pub(super) fn into_header(self) -> String {
        self.with_answer.into_inner()
    }

    /// Sends a frame: the first one with the answer to the upgrade if a header can carry it, which saves a message.
    fn send(&self, frame: &str) {
        let header = if self.is_first.replace(false) { in_header(frame) } else { None };
        match header {
            Some(header) => {
                self.with_answer.replace(header);
            }
            None => send(self.socket.as_ref(), frame),
        }
    }
}

/// Accepts one more follower, whose hello was sent with the upgrade or follows as a message. The owner check happens
/// later, when the hello is read. At the limit, a socket is refused only if `limit` sockets still wait for their hello.
pub(super) fn accept_one(
    state: &State,
    counts: &SocketCounts,
    limit: usize,
    has_told: bool,
) -> Result<Option<Accepted>, JsValue> {
    let is_surplus = counts.reach(limit, state);
    if is_surplus && count_untold(state.as_raw()) >= limit {
        return Ok(None);
    }
    let ends = accept(state.as_raw(), has_told)?;
    counts.note_one(has_told);
    let (client, server) = (ends.get(0), ends.get(1).unchecked_into::<web_sys::WebSocket>());
    Ok(Some(Accepted { client, server: server.into(), is_surplus }))
}

/// Records that the hello of a socket has arrived and that its caller may follow the task. Returns the number of all
/// sockets.
pub(super) fn note_told_one(state: &State, socket: &WebSocket) -> usize {
    note_told(socket.as_ref());
    count(state.as_raw())
}

/// Sends a frame to all followers, if there are any. The platform's output gate holds the frame until all rows written
/// before it are durable.
pub(super) fn publish(
    state: &State,
    counts: &SocketCounts,
    frame: &dyn Fn() -> Option<String>,
) -> bool {
    let is_alone = match counts.most.get() {
        Some(most) => most == 0,
        None => !counts.reach(1, state),
    };
    if is_alone {
        return false;
    }
    match frame() {
        Some(text) => {
            let has_untold = counts.has_untold(state);
            counts.note(send_to_all(state.as_raw(), &text, has_untold));
        }
        None => counts.note(count(state.as_raw())),
    }
    counts.most.get() != Some(0)
}

/// Closes the sockets of the answered followers shortly after the last event. Closing at once would delay the last
/// deliveries, because of the close frames from both ends.
///
/// A follower whose hello has not arrived yet is answered when the hello arrives.
pub(super) async fn close_late(state: &State) {
    Delay::from(LATE).await;
    close_answered(state.as_raw());
}

/// Answers a follower that speaks this dialect: sends its first frames.
pub(super) fn begin(follower: &Follower<'_>, dialect: Dialect, beginning: &Beginning) {
    let socket = follower.socket;
    note_answered(socket.as_ref(), dialect.version());
    for frame in &beginning.frames {
        follower.send(frame);
    }
    match beginning.next {
        Next::Events => {}
        Next::MoreOfTheLog => close(socket, CloseCode::More),
        Next::Nothing => close(socket, CloseCode::Over),
    }
}

/// Sends a follower the refusal as its last frame, and closes its socket.
pub(super) fn refuse(follower: &Follower<'_>, answer: &HttpResponse) {
    follower.send(&frame::refusal(answer.status, &answer.headers, &answer.body));
    close(follower.socket, CloseCode::Over);
}

#[wasm_bindgen(module = "/js/followers.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    fn accept(state: &JsValue, has_told: bool) -> Result<js_sys::Array, JsValue>;

    #[wasm_bindgen(catch)]
    fn upgraded(client: &JsValue, told: Option<&str>) -> Result<JsValue, JsValue>;

    fn count(state: &JsValue) -> usize;

    #[wasm_bindgen(js_name = countUntold)]
    fn count_untold(state: &JsValue) -> usize;

    #[wasm_bindgen(js_name = noteTold)]
    fn note_told(socket: &JsValue);

    #[wasm_bindgen(js_name = noteAnswered)]
    fn note_answered(socket: &JsValue, version: &str);

    #[wasm_bindgen(js_name = sendToAll)]
    fn send_to_all(state: &JsValue, text: &str, has_untold: bool) -> usize;

    #[wasm_bindgen(js_name = closeAnswered)]
    fn close_answered(state: &JsValue);

    fn send(socket: &JsValue, text: &str);
}

/// The delay between the last event and the closing of the sockets; the event is delivered by then.
const LATE: Duration = Duration::from_millis(250);
