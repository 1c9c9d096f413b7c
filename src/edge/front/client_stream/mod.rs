//! One client's stream, without its socket: what each frame of the object comes to for the client, and what to
//! ask when the socket drops. Pure.
//!
//! It owns the position: after a drop the object is asked for what comes after the position. Before the first
//! frame has come it is asked again what the client asked: an object knows a send that is repeated, and one
//! that died before it stored the message gets it again.

use crate::edge::command::StreamCommand;
use crate::edge::socket::CloseCode;
use crate::session::frame::{Frame, Mark};
use crate::task::LogEntry;
use a2a::FollowCall;
use a2a::binding::http::HttpResponse;
use a2a::binding::sse::{self, EventWriter, error_event};
use a2a::error::Error;
use a2a::model::{HistoryLimit, SubscribeToTaskRequest, TaskId, TaskView};

/// One client's stream.
pub(super) struct ClientStream {
    id: TaskId,
    /// What to tell the object when a socket is opened.
    hello: StreamCommand,
    /// Gives events the form of the client's binding.
    events: EventWriter,
    /// Whether the stream ends when the task asks for input.
    is_turn: bool,
    /// Whether the stream may begin with the first event of a task, instead of a snapshot.
    is_new: bool,
    /// The generation of the newest event that the client has; `None` before any.
    position: Option<u64>,
    /// Whether the object has said anything that opens the stream.
    has_begun: bool,
    is_over: bool,
    /// Whether an event is missing, so that the object has to be asked from the position on.
    has_gap: bool,
    /// How often connecting has failed, or the socket has dropped, since anything last came.
    failures: u32,
    refusal: Option<HttpResponse>,
    /// What the client gets before the end of a stream that breaks off.
    last_word: Option<String>,
}

impl ClientStream {
    /// The stream that `hello` asks for, of this task.
    pub(super) fn new(id: TaskId, mut hello: StreamCommand) -> Self {
        let (is_turn, is_new) = match &hello.command.call {
            FollowCall::SendStreamingMessage(request) => (true, request.message.task_id.is_none()),
            FollowCall::SubscribeToTask(_) => (false, false),
        };
        let position = hello.after;
        if is_new && hello.command.fingerprint.is_none() {
            // Nobody else knows the task, so if the send is repeated its events are wanted from the first
            // one on, not a snapshot.
            hello.after = Some(0);
        }
        let events = hello.command.reply.events();
        Self {
            id,
            hello,
            events,
            is_turn,
            is_new,
            position,
            has_begun: false,
            is_over: false,
            has_gap: false,
            failures: 0,
            refusal: None,
            last_word: None,
        }
    }

    /// What to tell the object over a new socket.
    pub(super) fn hello(&self) -> &StreamCommand {
        &self.hello
    }

    /// Whether nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the object has said anything that opens the stream.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The answer that the client gets instead of a stream, if there is to be none.
    pub(super) fn take_refusal(&mut self) -> Option<HttpResponse> {
        self.refusal.take()
    }

    /// The last piece of a stream that is over, if it breaks off.
    pub(super) fn take_last_word(&mut self) -> Option<String> {
        self.last_word.take()
    }

    /// Whether an event is missing since the last call: the socket is of no use any more.
    pub(super) fn take_gap(&mut self) -> bool {
        std::mem::take(&mut self.has_gap)
    }

    /// The pause before connecting, in milliseconds, which grows with every failure. After too many the stream ends:
    /// `None`. A stream that has not begun is refused as soon as a call that is no stream would be.
    pub(super) fn pause_ms(&mut self) -> Option<u64> {
        let limit = if self.has_begun { MAX_FAILURES } else { MAX_FIRST_FAILURES };
        if self.failures > limit {
            self.end_with_internal();
            return None;
        }
        if self.has_begun {
            let request = SubscribeToTaskRequest { tenant: None, id: self.id.clone() };
            self.hello.command.call = FollowCall::SubscribeToTask(request);
            self.hello.after = self.position;
        }
        match self.failures {
            0 => Some(0),
            failures => Some((FIRST_PAUSE_MS << failures.min(7)).min(MAX_PAUSE_MS)),
        }
    }

    /// Connecting has failed.
    pub(super) fn note_failure(&mut self) {
        self.failures += 1;
    }

    /// The socket was closed with this code.
    pub(super) fn note_closed(&mut self, code: u16) {
        if code == CloseCode::Unreadable.number() {
            self.end_with_internal();
        } else if code == CloseCode::Over.number() && self.position.is_some() {
            self.is_over = true;
        } else if code != CloseCode::More.number() && code != CloseCode::TooSlow.number() {
            self.failures += 1;
        }
    }

    /// The text for the client that a frame comes to; empty for what it has already.
    pub(super) fn render(&mut self, frame: &Frame<'_>) -> String {
        match frame {
            Frame::Snapshot(generation, mark, json) if self.position.is_none() => {
                self.advance(*generation, *mark);
                self.events.event(Some(*generation), json)
            }
            Frame::Snapshot(..) => String::new(),
            Frame::Events(first, events) => self.render_events(*first, events),
            Frame::Message(json) => {
                self.has_begun = true;
                self.is_over = true;
                self.events.event(None, json)
            }
            Frame::Ready if self.has_begun => String::new(),
            Frame::Ready => {
                self.has_begun = true;
                sse::HEARTBEAT.to_owned()
            }
            Frame::Refusal { status, headers, body } => {
                self.is_over = true;
                if self.has_begun {
                    return error_event(body);
                }
                let refusal = HttpResponse::json(*status, (*body).to_owned());
                self.refusal = Some(refusal.with_headers(headers.iter().cloned()));
                String::new()
            }
        }
    }

    fn render_events(&mut self, first: u64, events: &[(Mark, &str)]) -> String {
        let mut text = String::new();
        for (generation, (mark, json)) in (first..).zip(events) {
            // Without a position a stream begins with a snapshot, which will include the event, or
            // with the first event of a new task.
            let begins = self.is_new && generation == 1;
            let Some(position) = self.position.or(begins.then_some(0)) else { return text };
            if generation <= position || self.is_over {
                continue;
            }
            if generation != position + 1 {
                // Something is missing: ask for it.
                self.has_gap = true;
                return text;
            }
            self.advance(generation, *mark);
            let opening = (generation == 1 && self.hello.command.terms.shows_generation)
                .then(|| with_generation(json))
                .flatten();
            text.push_str(&self.events.event(Some(generation), opening.as_deref().unwrap_or(json)));
        }
        text
    }

    fn advance(&mut self, generation: u64, mark: Mark) {
        self.position = Some(generation);
        self.has_begun = true;
        self.failures = 0;
        self.is_over = match mark {
            Mark::Ended => true,
            Mark::InputRequired => self.is_turn,
            Mark::Open => false,
        };
    }

    fn end_with_internal(&mut self) {
        self.end_with(&Error::Internal { task: self.has_begun.then(|| self.id.clone()) });
    }

    /// Gives up: by an answer, or where the stream has begun by a last event that says so.
    pub(super) fn end_with(&mut self, error: &Error) {
        self.is_over = true;
        let answer = self.hello.command.reply.error(error);
        if self.has_begun {
            self.last_word = Some(error_event(&answer.body));
        } else {
            self.refusal = Some(answer);
        }
    }
}

/// The event that opens the log of a task, with the generation in the metadata of the task. Frames have it
/// as it is stored, for all followers alike.
fn with_generation(json: &str) -> Option<String> {
    let Ok(LogEntry::Task(task)) = LogEntry::parse(json) else { return None };
    let view = TaskView { generation: Some(1), ..task.view(HistoryLimit::All) };
    serde_json::to_string(&view).ok().map(|task| format!(r#"{{"task":{task}}}"#))
}

const FIRST_PAUSE_MS: u64 = 25;
const MAX_PAUSE_MS: u64 = 5_000;

/// How often in a row connecting may fail before the stream ends: about a minute.
const MAX_FAILURES: u32 = 20;

/// How often connecting may fail before the first frame: a fraction of a second.
const MAX_FIRST_FAILURES: u32 = 2;

#[cfg(test)]
mod tests;
