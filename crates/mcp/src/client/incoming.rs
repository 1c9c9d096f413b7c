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
    /// The messages of a batch that is read.
    messages: VecDeque<Value>,
    /// How many bytes may still come.
    left_bytes: usize,
    max_bytes: usize,
    /// The newest id of an event (legacy).
    pub(super) last_event_id: Option<String>,
    /// What the stream before this one said about coming back.
    earlier_retry_ms: Option<u64>,
    is_over: bool,
}

enum Form {
    Whole(Vec<u8>),
    Events(Box<SseReader>),
}

impl Incoming {
    /// The messages of this answer, whose content type says how they are written.
    ///
    /// # Errors
    ///
    /// If it is of another type, or too large.
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

    /// The next message; `None` at the end. May be dropped while it waits, without that anything is lost.
    ///
    /// # Errors
    ///
    /// If the answer breaks off, is too large, or is none.
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

    /// Makes this the stream that goes on where another one has ended: the bounds are those of both.
    pub(super) fn goes_on_from(&mut self, ended: &Self) {
        self.left_bytes = self.left_bytes.min(ended.left_bytes);
        self.last_event_id.clone_from(&ended.last_event_id);
        self.earlier_retry_ms = ended.retry_ms();
    }

    /// Whether the messages come as events.
    pub(super) fn is_stream(&self) -> bool {
        matches!(self.form, Form::Events(_))
    }

    /// How long the server wants to be left alone before the stream goes on (legacy), in milliseconds.
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

    /// The next message of what has arrived. Of a stream, one is read at a time: its tree takes far more memory than its text.
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

    /// What the end of the body brings.
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

/// The message of an event; `None` for one that holds none, such as a sign of life.
///
/// # Errors
///
/// If it exceeds the bounds of JSON.
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

/// Whether a content type is that of JSON. An answer that names none may be.
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

/// How much larger than one answer a stream may be: it holds progress besides.
const MAX_STREAM_FACTOR: usize = 16;
