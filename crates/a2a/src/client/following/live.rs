//! An open stream: its pieces, its events, and its end.

use futures_util::future::{Either, select};
use std::pin::pin;

use super::super::codec::Wire;
use super::super::retry::MAX_DELAY_MS;
use super::super::sse::{SseEvent, SseReader, TooLarge};
use super::{Following, Source, Start, form};
use crate::call::{Call, FollowCall};
use crate::client::ClientError;
use crate::http::{HttpAnswer, HttpBody, HttpError};
use crate::model::{StreamResponse, TaskState, UnixMillis, fnv1a};

/// An open stream.
pub(super) struct Live {
    wire: Wire,
    body: HttpBody,
    url: String,
    reader: SseReader,
    /// True if the body is a single text and not an event stream, independent of its declared type; `None` until the first
    /// piece has arrived.
    is_whole: Option<bool>,
    /// The body, if it is a single text.
    text: Vec<u8>,
    /// True if the stream is the answer to a message.
    is_send: bool,
    /// The number of events read until now.
    count: u32,
    /// The number of consecutive events that could not be decoded.
    senseless: u32,
    /// The end of the time in which the server may still send events after the end of the task.
    last_words: Option<UnixMillis>,
}

impl Live {
    pub(super) fn new(wire: Wire, answer: HttpAnswer, call: &Call) -> Self {
        let HttpAnswer { body, url, .. } = answer;
        let reader = SseReader::new(MAX_EVENT_BYTES);
        let is_send = matches!(call, Call::Follow(FollowCall::SendStreamingMessage(_)));
        let (is_whole, text, last_words) = (None, Vec::new(), None);
        let (count, senseless) = (0, 0);
        Self { wire, body, url, reader, is_whole, text, is_send, count, senseless, last_words }
    }

    /// Adds the next piece of the body.
    fn push(&mut self, piece: &[u8]) -> Result<(), TooLarge> {
        self.is_whole = self.is_whole.or_else(|| form::is_whole(piece));
        if self.is_whole != Some(true) {
            return self.reader.push(piece);
        }
        self.text.extend_from_slice(piece);
        if self.text.len() > MAX_EVENT_BYTES { Err(TooLarge) } else { Ok(()) }
    }

    /// The rest at the end of the body: an event without its final empty line, or the whole body if it is not an event
    /// stream.
    fn rest(&mut self) -> Option<SseEvent> {
        if self.text.is_empty() {
            let rest = self.reader.rest()?;
            return self.wire.event(name(&rest), &rest.data).is_ok().then_some(rest);
        }
        let data = String::from_utf8_lossy(&self.text).into_owned();
        Some(SseEvent { data, ..SseEvent::default() })
    }
}

/// The result of waiting for a stream.
enum Arrived {
    Piece(Result<Vec<u8>, HttpError>),
    End,
    /// The time for waiting is over.
    Enough,
}

impl Following {
    /// Reads the next piece of the stream.
    pub(super) async fn read(&mut self) -> Result<(), ClientError> {
        let (now, clock) = (self.now(), self.client.ports().clock.clone());
        let Source::Live(live) = &mut self.source else { return Ok(()) };
        let deadline = self.options.deadline;
        let until = live.last_words.into_iter().chain(deadline).min();
        let arrived = match until {
            None => Arrived::from(live.body.next().await),
            Some(until) => {
                let piece = pin!(live.body.next());
                match select(piece, clock.sleep(until.millis_since(now))).await {
                    Either::Left((piece, _)) => Arrived::from(piece),
                    Either::Right(_) => Arrived::Enough,
                }
            }
        };
        match arrived {
            Arrived::Piece(Ok(bytes)) => {
                if live.push(&bytes).is_err() {
                    let (url, max_bytes) = (live.url.clone(), MAX_EVENT_BYTES);
                    return Err(HttpError::TooLarge { url, max_bytes }.into());
                }
                while let Some(event) = self.next_event() {
                    self.arrive(event)?;
                    self.telling.check_size()?;
                }
                self.look_at_what_was_heard().await;
                Ok(())
            }
            Arrived::Piece(Err(error)) => {
                self.broken(error.into());
                Ok(())
            }
            Arrived::End => self.closed(),
            Arrived::Enough if self.telling.has_ended() => {
                self.source = Source::Ending;
                Ok(())
            }
            Arrived::Enough => Err(ClientError::Timeout),
        }
    }

    fn next_event(&mut self) -> Option<SseEvent> {
        match &mut self.source {
            Source::Live(live) => live.reader.pop(),
            _ => None,
        }
    }

    /// Fetches the task if the stream has sent an event after a gap. The event would be reported before the missing events,
    /// so the fetched task replaces all of these events.
    async fn look_at_what_was_heard(&mut self) {
        let Some(id) = self.telling.heard() else { return };
        let task = match self.look(&id).await {
            Ok(task) => task,
            Err(error) => return self.broken(error),
        };
        if self.telling.look(task) {
            (self.failures, self.reason) = (0, None);
        }
        let state = self.telling.told().map(|task| task.status.state);
        let is_turn_over =
            state == Some(TaskState::InputRequired) && matches!(self.start, Start::Send(_));
        if is_turn_over || self.telling.has_ended() {
            self.source = Source::Ending;
        }
    }

    /// Handles the end of the stream.
    fn closed(&mut self) -> Result<(), ClientError> {
        let Source::Live(live) = &mut self.source else { return Ok(()) };
        if let Some(rest) = live.rest() {
            self.arrive(rest)?;
        }
        let is_waiting = self.telling.told().is_some_and(|task| task.status.state.is_interrupted());
        match &self.source {
            Source::Live(_) if is_waiting => self.source = Source::Ending,
            Source::Live(_) => self.broken(ClientError::Ended),
            _ => {}
        }
        Ok(())
    }

    /// Handles a stream that broke off, unless the task has ended.
    fn broken(&mut self, reason: ClientError) {
        if self.telling.has_ended() {
            self.source = Source::Ending;
            return;
        }
        if let Source::Live(live) = &self.source {
            self.retry_ms = live.reader.retry_ms().unwrap_or(0).min(MAX_DELAY_MS);
        }
        // The first error describes the failure better than the end of the stream.
        let first = self.reason.take();
        self.cut(first.unwrap_or(reason));
    }

    /// Handles an event of the stream.
    fn arrive(&mut self, event: SseEvent) -> Result<(), ClientError> {
        let now = self.now();
        let Source::Live(live) = &mut self.source else { return Ok(()) };
        let response = match live.wire.event(name(&event), &event.data) {
            Ok(response) => response,
            Err(_) if KEEP_ALIVE.contains(&event.event.as_str()) => return Ok(()),
            Err(error) => return self.senseless(error),
        };
        self.client.0.is_proven.set(true);
        live.senseless = 0;
        live.count += 1;
        let (is_first, is_send) = (live.count == 1, live.is_send);
        let is_message = matches!(response, StreamResponse::Message(_));
        if is_message && self.telling.told().is_none() {
            self.telling.message(response, event.id);
            self.source = Source::Over;
            return Ok(());
        }
        let is_look = matches!(response, StreamResponse::Task(_));
        let is_status = matches!(response, StreamResponse::StatusUpdate(_));
        let data = fnv1a(event.data.as_bytes());
        if self.telling.event(response, event.id, data) {
            (self.failures, self.reason) = (0, None);
        }
        let Some(state) = self.telling.told().map(|task| task.status.state) else { return Ok(()) };
        if state.is_terminal() {
            if let Source::Live(live) = &mut self.source {
                live.last_words.get_or_insert(now.after(LAST_WORDS_MS));
            }
            return Ok(());
        }
        // The first snapshot of a task that this message answers may be older than the message.
        let is_asking = is_status || (is_look && !(is_first && is_send && self.answers_a_task()));
        let is_turn_over = state == TaskState::InputRequired && is_asking;
        if is_turn_over && matches!(self.start, Start::Send(_)) {
            self.source = Source::Ending;
        }
        Ok(())
    }

    fn answers_a_task(&self) -> bool {
        matches!(&self.start, Start::Send(request) if request.message.task_id.is_some())
    }

    /// Handles an event that is an error or cannot be decoded.
    fn senseless(&mut self, error: ClientError) -> Result<(), ClientError> {
        let Source::Live(live) = &mut self.source else { return Ok(()) };
        live.senseless += 1;
        if self.telling.has_ended() {
            return Ok(());
        }
        if matches!(error, ClientError::Remote(_)) {
            match live.count {
                0 => self.source = Source::Refused(error),
                _ => {
                    self.reason = None;
                    self.broken(error);
                }
            }
            return Ok(());
        }
        if live.senseless > MAX_SENSELESS {
            return Err(error);
        }
        // The event may have contained a change of the task.
        self.telling.doubt();
        self.reason = Some(error);
        Ok(())
    }
}

/// The name of an event's frame, if there is one.
fn name(event: &SseEvent) -> Option<&str> {
    Some(event.event.as_str()).filter(|name| !name.is_empty())
}

impl From<Option<Result<Vec<u8>, HttpError>>> for Arrived {
    fn from(piece: Option<Result<Vec<u8>, HttpError>>) -> Self {
        piece.map_or(Self::End, Self::Piece)
    }
}

/// The names of frames that only keep the connection open.
const KEEP_ALIVE: [&str; 4] = ["ping", "heartbeat", "keepalive", "keep-alive"];

/// The largest event that is read: 4 MiB.
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// The largest number of consecutive events that cannot be decoded.
const MAX_SENSELESS: u32 = 16;

/// The time in which a server may send events after the event that ends the task, in milliseconds.
const LAST_WORDS_MS: u64 = 1_000;
