//! The messages of an answer: one JSON object, or the events of a stream.

use std::collections::VecDeque;

use a2a::binding::media_type::essence;
use a2a::client::SseReader;
use a2a::http::{HttpAnswer, HttpBody, HttpError};
use a2a::model::{MAX_FOREIGN_VALUES, UnfitJson, read_foreign};
use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::McpError;
use super::error::excerpt;

/// The messages of an answer, as they arrive.
pub(super) struct Incoming {
    body: HttpBody,
    form: Form,
    /// The messages that were parsed but not returned yet.
    messages: VecDeque<Value>,
    /// The number of bytes that may still arrive.
    left_bytes: usize,
    max_bytes: usize,
    /// The newest id of an event (legacy).
    pub(super) last_event_id: Option<String>,
    /// The delay before a resumption, as the previous stream has sent it.
    earlier_retry_ms: Option<u64>,
    is_over: bool,
}

enum Form {
    Whole(Vec<u8>),
    Events(Box<SseReader>),
}

impl Incoming {
    /// The messages of this answer: one JSON object or a stream, by the content type.
    ///
    /// # Errors
    ///
    /// If the answer has another type, or is too large.
    pub(super) fn of(
        answer: HttpAnswer,
        max_bytes: usize,
    ) -> LocalBoxFuture<'static, Result<Self, McpError>> {
        Box::pin(async move {
            let kind = media_type(&answer);
            if answer.status == 202 || answer.status == 204 {
                let reason = format!("it has status {}, and nothing in it", answer.status);
                return Err(McpError::NotMcp(reason));
            }
            let (form, left_bytes) = match kind.as_str() {
                "text/event-stream" => {
                    let reader = Box::new(SseReader::new(max_bytes));
                    (Form::Events(reader), max_bytes.saturating_mul(MAX_STREAM_FACTOR))
                }
                kind if is_json(kind) => {
                    let length = answer.header("content-length").and_then(|text| text.parse().ok());
                    if length.is_some_and(|length: usize| length > max_bytes) {
                        return Err(McpError::TooLarge { max_bytes });
                    }
                    (Form::Whole(Vec::new()), max_bytes)
                }
                _ => {
                    let begins = begin_of(answer.body).await;
                    return Err(McpError::NotMcp(if begins.is_empty() {
                        format!("its content type is \"{}\"", excerpt(&kind))
                    } else {
                        format!(
                            "its content type is \"{}\", and it begins: {begins}",
                            excerpt(&kind)
                        )
                    }));
                }
            };
            let (messages, last_event_id) = (VecDeque::new(), None);
            Ok(Self {
                body: answer.body,
                form,
                messages,
                left_bytes,
                max_bytes,
                last_event_id,
                earlier_retry_ms: None,
                is_over: false,
            })
        })
    }

    /// The next message; `None` at the end. If the future is dropped while it waits, no message is lost: a later call
    /// continues the wait.
    ///
    /// # Errors
    ///
    /// If the answer breaks off, is too large, or is not an MCP answer.
    pub(super) fn next<'a>(&'a mut self) -> LocalBoxFuture<'a, Option<Result<Value, McpError>>> {
        Box::pin(async move {
            loop {
                match self.ready() {
                    Ok(Some(message)) => return Some(Ok(message)),
                    Ok(None) => {}
                    Err(error) => {
                        self.is_over = true;
                        self.messages.clear();
                        return Some(Err(error));
                    }
                }
                if self.is_over {
                    return None;
                }
                let piece = self.body.next().await;
                let read = match piece {
                    Some(Ok(piece)) => self.read(&piece),
                    Some(Err(error)) => Err(broken(error)),
                    None => {
                        self.is_over = true;
                        self.end()
                    }
                };
                if let Err(error) = read {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        })
    }

    /// Continues an ended stream by this stream: the limits apply to both streams together.
    pub(super) fn goes_on_from(&mut self, ended: &Self) {
        self.left_bytes = self.left_bytes.min(ended.left_bytes);
        self.last_event_id.clone_from(&ended.last_event_id);
        self.earlier_retry_ms = ended.retry_ms();
    }

    /// True if the messages arrive as events.
    pub(super) fn is_stream(&self) -> bool {
        matches!(self.form, Form::Events(_))
    }

    /// The delay that the server requires before the stream is resumed (legacy), in milliseconds.
    pub(super) fn retry_ms(&self) -> Option<u64> {
        match &self.form {
            Form::Events(reader) => reader.retry_ms().or(self.earlier_retry_ms),
            Form::Whole(_) => None,
        }
    }

    fn read(&mut self, piece: &[u8]) -> Result<(), McpError> {
        let too_large = McpError::TooLarge { max_bytes: self.max_bytes };
        let Some(left) = self.left_bytes.checked_sub(piece.len()) else { return Err(too_large) };
        self.left_bytes = left;
        match &mut self.form {
            Form::Whole(whole) => whole.extend_from_slice(piece),
            Form::Events(reader) => {
                reader.push(piece).map_err(|_| too_large)?;
            }
        }
        Ok(())
    }

    /// The next message of the bytes that have arrived. A stream is parsed one message at a time, because parsed JSON
    /// needs far more memory than its text.
    fn ready(&mut self) -> Result<Option<Value>, McpError> {
        if let Some(message) = self.messages.pop_front() {
            return Ok(Some(message));
        }
        let Form::Events(reader) = &mut self.form else { return Ok(None) };
        while let Some(event) = reader.pop() {
            self.last_event_id = event.id.or_else(|| self.last_event_id.take());
            if let Some(message) = message(&event.event, &event.data)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// Handles the end of the body.
    fn end(&mut self) -> Result<(), McpError> {
        match &mut self.form {
            Form::Whole(whole) => {
                let whole = std::mem::take(whole);
                let json = read_foreign(&whole, MAX_FOREIGN_VALUES).map_err(|unfit| {
                    let begins = excerpt(&String::from_utf8_lossy(begin(&whole)));
                    match (unfit, begins.as_str()) {
                        (UnfitJson::NotJson { .. }, "") => {
                            McpError::NotMcp("it is empty".to_owned())
                        }
                        (unfit @ UnfitJson::NotJson { .. }, begins) => {
                            McpError::NotMcp(format!("it {unfit}, and begins: {begins}"))
                        }
                        (beyond, _) => McpError::TooMuchJson(beyond),
                    }
                })?;
                match json {
                    Value::Array(batch) => self.messages.extend(batch),
                    message => self.messages.push_back(message),
                }
            }
            Form::Events(reader) => {
                if let Some(event) = reader.rest() {
                    self.messages.extend(message(&event.event, &event.data)?);
                }
            }
        }
        Ok(())
    }
}

/// The message of an event; `None` for an event without a message, for example one that keeps the connection open.
///
/// # Errors
///
/// If the message exceeds the limits for JSON.
fn message(event: &str, data: &str) -> Result<Option<Value>, McpError> {
    if !matches!(event, "" | "message") || data.trim().is_empty() {
        return Ok(None);
    }
    match read_foreign(data.as_bytes(), MAX_FOREIGN_VALUES) {
        Ok(message) => Ok(Some(message).filter(Value::is_object)),
        Err(UnfitJson::NotJson { .. }) => Ok(None),
        Err(beyond) => Err(McpError::TooMuchJson(beyond)),
    }
}

/// The content type of an answer without parameters, in lower case.
pub(super) fn media_type(answer: &HttpAnswer) -> String {
    let kind = answer.header("content-type").unwrap_or_default();
    essence(kind).to_ascii_lowercase()
}

/// True if a content type is that of JSON. An answer without a type may be JSON.
fn is_json(kind: &str) -> bool {
    matches!(kind, "" | "application/json")
        || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn broken(error: HttpError) -> McpError {
    McpError::Lost(error.to_string())
}

/// The beginning of a body, for an error.
pub(super) fn begin_of(mut body: HttpBody) -> LocalBoxFuture<'static, String> {
    Box::pin(async move {
        let mut whole = Vec::new();
        while whole.len() < EXCERPT_BYTES {
            match body.next().await {
                Some(Ok(piece)) => whole.extend_from_slice(&piece),
                Some(Err(_)) | None => break,
            }
        }
        excerpt(&String::from_utf8_lossy(begin(&whole)))
    })
}

fn begin(bytes: &[u8]) -> &[u8] {
    bytes.get(..EXCERPT_BYTES).unwrap_or(bytes)
}

const EXCERPT_BYTES: usize = 2_000;

/// The largest stream, as a multiple of the largest answer: a stream also contains progress.
const MAX_STREAM_FACTOR: usize = 16;
