//! A stream of server-sent events on one side, a socket to the task's object on the other.
//!
//! The front Worker holds the client's connection, so that the object can be evicted while nothing
//! happens. It owns the position: when the socket drops, it connects again and asks for what comes after
//! the position. Before the first frame has come it asks again what the client asked: an object knows a
//! send that is repeated, and one that died before it stored the message gets it again.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream;
use worker::{Delay, Headers, Response, Result, console_error, console_warn};

use super::link::{Link, connect};
use crate::edge::command::{Refusal, StreamCommand};
use crate::edge::objects::{AskError, Object};
use crate::edge::socket::CloseCode;
use crate::session::frame::{Frame, Mark};
use crate::task::LogEntry;
use a2a::FollowCall;
use a2a::binding::http::{CORS, HttpResponse};
use a2a::binding::sse::{self, EventWriter, error_event};
use a2a::error::Error;
use a2a::model::{HistoryLimit, SubscribeToTaskRequest, TaskId, TaskView};

/// What a request for a stream comes to.
pub(super) enum Opened {
    /// The stream.
    Stream(Response),
    /// An answer instead of it.
    Answer(HttpResponse),
}

/// Opens the stream that a command asks for: the answer is known once the object has said its first
/// word.
///
/// # Errors
///
/// When the platform fails to build a response.
pub(super) async fn open(object: Object, command: StreamCommand) -> Result<Opened> {
    let extensions = command.command.reply.extensions_header();
    let mut bridge = Bridge::new(object, command);
    let first = bridge.next().await;
    if let Some(refusal) = bridge.refusal.take() {
        return Ok(Opened::Answer(refusal));
    }
    if first.is_none() {
        // The client has every event of a task that has ended. This answer, unlike an empty stream, makes
        // an `EventSource` stop connecting again.
        return Ok(Opened::Answer(HttpResponse::empty(204)));
    }
    let chunks = stream::unfold((first, bridge), |(ready, mut bridge)| async move {
        let chunk = match ready {
            Some(chunk) => chunk,
            None => bridge.next().await?,
        };
        Some((Ok::<_, worker::Error>(chunk.into_bytes()), (None, bridge)))
    });
    let headers = Headers::new();
    for (name, value) in CORS.iter().chain(&sse::HEADERS) {
        headers.set(name, value)?;
    }
    if let Some((name, value)) = extensions {
        headers.set(name, &value)?;
    }
    Ok(Opened::Stream(Response::from_stream(chunks)?.with_headers(headers)))
}

/// One client's stream.
struct Bridge {
    object: Object,
    id: TaskId,
    /// What to tell the object when the socket is opened.
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
    link: Option<Link>,
    /// How often connecting has failed, or the socket has dropped, since anything last came.
    failures: u32,
    refusal: Option<HttpResponse>,
    /// What the client gets before the end of a stream that breaks off.
    last_word: Option<String>,
}

impl Bridge {
    fn new(object: Object, mut hello: StreamCommand) -> Self {
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
            id: object.id().task_id(),
            object,
            hello,
            events,
            is_turn,
            is_new,
            position,
            has_begun: false,
            is_over: false,
            link: None,
            failures: 0,
            refusal: None,
            last_word: None,
        }
    }

    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self) -> Option<String> {
        loop {
            if self.is_over {
                self.link = None;
                return self.last_word.take();
            }
            let Some(link) = &self.link else {
                self.connect().await;
                continue;
            };
            let frames = link.take();
            if !frames.is_empty() {
                let text: String = frames.iter().map(|frame| self.render(frame)).collect();
                if !text.is_empty() {
                    return Some(text);
                }
                continue;
            }
            if let Some(code) = link.closed() {
                self.link = None;
                self.note_closed(code);
                continue;
            }
            let changed = Box::pin(link.changed());
            let heartbeat = Delay::from(SILENCE);
            match select(changed, heartbeat).await {
                Either::Left(_) => {}
                Either::Right(_) if self.has_begun => return Some(sse::HEARTBEAT.to_owned()),
                Either::Right(_) => {}
            }
        }
    }

    fn note_closed(&mut self, code: u16) {
        if code == CloseCode::Unreadable.number() {
            self.end_with_internal();
        } else if code == CloseCode::Over.number() && self.position.is_some() {
            self.is_over = true;
        } else if code != CloseCode::More.number() && code != CloseCode::TooSlow.number() {
            self.failures += 1;
        }
    }

    /// Connects to the object, after a pause that grows with every failure. Too many end the stream; a
    /// stream that has not begun is refused as soon as a call that is no stream would be.
    async fn connect(&mut self) {
        let limit = if self.has_begun { MAX_FAILURES } else { MAX_FIRST_FAILURES };
        if self.failures > limit {
            self.end_with_internal();
            return;
        }
        if self.failures > 0 {
            let pause = (FIRST_PAUSE_MS << self.failures.min(7)).min(MAX_PAUSE_MS) as f64;
            let jitter = 0.5 + js_sys::Math::random() / 2.0;
            Delay::from(Duration::from_millis((pause * jitter) as u64)).await;
        }
        if self.has_begun {
            let request = SubscribeToTaskRequest { tenant: None, id: self.id.clone() };
            self.hello.command.call = FollowCall::SubscribeToTask(request);
            self.hello.after = self.position;
        }
        match connect(&self.object, &self.hello).await {
            Ok(link) => self.link = Some(link),
            Err(AskError::Refused(Refusal::TooManyFollowers(limit))) => {
                self.end_with(&Error::TooManyStreams(limit));
            }
            Err(error) => {
                console_warn!("task {}: connecting failed: {error}", self.id);
                self.failures += 1;
            }
        }
    }

    /// The text for the client that a frame comes to; empty for what it has already.
    fn render(&mut self, text: &str) -> String {
        let Some(frame) = Frame::parse(text) else {
            console_error!("task {}: a frame could not be read", self.id);
            return String::new();
        };
        match frame {
            Frame::Snapshot(generation, mark, json) if self.position.is_none() => {
                self.advance(generation, mark);
                self.events.event(Some(generation), json)
            }
            Frame::Snapshot(..) => String::new(),
            Frame::Events(first, events) => self.render_events(first, &events),
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
                let refusal = HttpResponse::json(status, body.to_owned());
                self.refusal = Some(refusal.with_headers(headers));
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
                self.link = None;
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
    fn end_with(&mut self, error: &Error) {
        self.is_over = true;
        let answer = self.hello.command.reply.error(error);
        match self.has_begun {
            true => self.last_word = Some(error_event(&answer.body)),
            false => self.refusal = Some(answer),
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

/// How long a stream is silent before a comment shows that it is alive. A client that is gone is
/// noticed by this, too.
const SILENCE: Duration = Duration::from_secs(15);

const FIRST_PAUSE_MS: u64 = 25;
const MAX_PAUSE_MS: u64 = 5_000;

/// How often in a row connecting may fail before the stream ends: about a minute.
const MAX_FAILURES: u32 = 20;

/// How often connecting may fail before the first frame: a fraction of a second.
const MAX_FIRST_FAILURES: u32 = 2;
