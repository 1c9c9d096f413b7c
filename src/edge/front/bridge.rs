//! A stream of server-sent events on one side, a socket to the task's object on the other.
//!
//! The front Worker holds the client's connection, so that the object can be evicted while nothing
//! happens. What a frame or a closed socket means is decided in `client_stream`; here are the socket and the
//! timers.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream;
use worker::{Delay, Headers, Response, Result};

use super::client_stream::ClientStream;
use super::link::{Link, connect};
use crate::edge::ask::Refusal;
use crate::edge::command::StreamCommand;
use crate::edge::objects::{AskError, Object};
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::random::WorkerRandom;
use crate::port::{Observation, Observer, Random};
use crate::session::frame::Frame;
use a2a::binding::http::{CORS, HttpResponse};
use a2a::binding::sse;
use a2a::error::Error;
use a2a::model::TaskId;

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
pub(super) async fn open(
    object: Object,
    command: StreamCommand,
    observer: ConsoleObserver,
) -> Result<Opened> {
    let extensions = command.command.reply.extensions_header();
    let id = object.id().task_id();
    let stream = ClientStream::new(id.clone(), command);
    let mut bridge = Bridge { object, id, stream, link: None, observer };
    let first = bridge.next().await;
    if let Some(refusal) = bridge.stream.take_refusal() {
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

/// One client's stream, and the socket that feeds it.
struct Bridge {
    object: Object,
    id: TaskId,
    stream: ClientStream,
    link: Option<Link>,
    observer: ConsoleObserver,
}

impl Bridge {
    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self) -> Option<String> {
        loop {
            if self.stream.is_over() {
                self.link = None;
                return self.stream.take_last_word();
            }
            let Some(link) = &self.link else {
                self.connect().await;
                continue;
            };
            let frames = link.take();
            if !frames.is_empty() {
                let text: String = frames.iter().map(|frame| self.render(frame)).collect();
                if self.stream.take_gap() {
                    self.link = None;
                }
                if !text.is_empty() {
                    return Some(text);
                }
                continue;
            }
            if let Some(code) = link.closed() {
                self.link = None;
                self.stream.note_closed(code);
                continue;
            }
            let changed = Box::pin(link.changed());
            let heartbeat = Delay::from(SILENCE);
            match select(changed, heartbeat).await {
                Either::Left(_) => {}
                Either::Right(_) if self.stream.has_begun() => {
                    return Some(sse::HEARTBEAT.to_owned());
                }
                Either::Right(_) => {}
            }
        }
    }

    fn render(&mut self, text: &str) -> String {
        let Some(frame) = Frame::parse(text) else {
            self.observer.observe(&Observation::FrameUnreadable { task: &self.id });
            self.stream.note_unreadable();
            return String::new();
        };
        self.stream.render(&frame)
    }

    /// Connects to the object, after the pause that the stream wants.
    async fn connect(&mut self) {
        let Some(pause_ms) = self.stream.pause_ms() else { return };
        if pause_ms > 0 {
            let jitter = 0.5 + WorkerRandom.chance() / 2.0;
            Delay::from(Duration::from_millis((pause_ms as f64 * jitter) as u64)).await;
        }
        match connect(&self.object, self.stream.hello()).await {
            Ok(link) => self.link = Some(link),
            Err(AskError::Refused(Refusal::TooManyFollowers(limit))) => {
                self.stream.end_with(&Error::TooManyStreams(limit));
            }
            Err(error) => {
                let (task, reason) = (Some(&self.id), error.to_string());
                self.observer.observe(&Observation::ObjectUnreachable { task, reason: &reason });
                self.stream.note_failure();
            }
        }
    }
}

/// How long a stream is silent before a comment shows that it is alive. A client that is gone is
/// noticed by this, too.
const SILENCE: Duration = Duration::from_secs(15);
