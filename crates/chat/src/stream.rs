//! An answer as it arrives: one JSON object, or the events of a stream. The bytes decide, as the content type is often
//! wrong.

use std::collections::VecDeque;

use a2a::client::{SseEvent, SseReader};
use a2a::http::{HttpAnswer, HttpBody, HttpError};
use a2a::model::{MAX_FOREIGN_VALUES, UnfitJson, read_foreign, read_foreign_as};
use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use crate::failure::{excerpt, failed};
use crate::fold::{Fold, TooMuch};
use crate::{ChatAnswer, ChatError, ChatErrorKind, Delta, Endpoint, Usage};

/// An answer that is arriving.
pub struct AnswerStream {
    endpoint: Endpoint,
    body: HttpBody,
    content_type: String,
    form: Form,
    fold: Fold,
    deltas: VecDeque<Delta>,
    /// The beginning of the body, for the text of an error.
    begin: Vec<u8>,
    /// The number of bytes that may still arrive.
    left_bytes: usize,
    end: Option<Result<(), ChatError>>,
}

/// The form of the answer.
enum Form {
    /// Unknown until the first byte that is not blank.
    Unknown,
    Whole(Vec<u8>),
    Events(Box<SseReader>),
}

impl AnswerStream {
    /// The stream of a successful answer. None of its calls gets one of the `known_ids`.
    pub(crate) fn new(answer: HttpAnswer, endpoint: Endpoint, known_ids: Vec<String>) -> Self {
        let content_type = excerpt(answer.header("content-type").unwrap_or_default());
        Self {
            body: answer.body,
            content_type,
            form: Form::Unknown,
            fold: Fold::new(endpoint.max_bytes, known_ids),
            deltas: VecDeque::new(),
            begin: Vec::new(),
            left_bytes: endpoint.max_bytes.saturating_mul(MAX_STREAM_FACTOR),
            end: None,
            endpoint,
        }
    }

    /// The next piece of the answer; `None` after the last one. The future may be dropped while it waits, and `next` called
    /// again, without losing anything.
    ///
    /// # Errors
    ///
    /// If the answer breaks off, is too large, is not an answer of a model, or reports a failure. Later calls return the
    /// same error.
    pub fn next<'a>(&'a mut self) -> LocalBoxFuture<'a, Result<Option<Delta>, ChatError>> {
        Box::pin(async move {
            loop {
                if let Some(delta) = self.deltas.pop_front() {
                    return Ok(Some(delta));
                }
                if let Some(end) = &self.end {
                    return end.clone().map(|()| None);
                }
                let piece = self.body.next().await;
                let read = match piece {
                    Some(Ok(piece)) => self.read(&piece),
                    Some(Err(error)) => self.broken(&error).map(|()| true),
                    None => self.finish().map(|()| true),
                };
                match read {
                    Ok(false) => {}
                    Ok(true) => self.end = Some(Ok(())),
                    Err(error) => self.end = Some(Err(error)),
                }
                if self.end.is_some() {
                    // Dropping the body closes the connection.
                    self.body = HttpBody::Empty;
                }
            }
        })
    }

    /// The usage that the provider has reported until now, also for a failed answer.
    pub fn usage(&self) -> Option<Usage> {
        self.fold.usage()
    }

    /// Whether a chunk of the model has arrived.
    pub fn has_begun(&self) -> bool {
        self.fold.has_begun()
    }

    /// The whole answer, after [`next`](Self::next) has returned `None`.
    ///
    /// # Errors
    ///
    /// The error of [`next`](Self::next), or an error if the answer was not read to its end.
    pub fn into_answer(self) -> Result<ChatAnswer, ChatError> {
        match self.end {
            Some(Ok(())) => Ok(self.fold.finish()),
            Some(Err(error)) => Err(error),
            None => {
                let text = "the answer of the model was not read to its end";
                Err(ChatError::new(ChatErrorKind::CutOff, text))
            }
        }
    }

    /// Reads a piece of the body. Returns whether the answer is complete.
    fn read(&mut self, piece: &[u8]) -> Result<bool, ChatError> {
        let too_large = || too_large(self.endpoint.max_bytes);
        self.left_bytes = self.left_bytes.checked_sub(piece.len()).ok_or_else(too_large)?;
        let wanted = BEGIN_BYTES.saturating_sub(self.begin.len());
        self.begin.extend(piece.iter().take(wanted));
        match &mut self.form {
            Form::Unknown => {
                let Some(at) = piece.iter().position(|byte| !BLANKS.contains(byte)) else {
                    return Ok(false);
                };
                let (_, rest) = piece.split_at(at);
                self.form = match rest.first() {
                    Some(b'{' | b'[') => Form::Whole(Vec::new()),
                    _ => Form::Events(Box::new(SseReader::new(self.endpoint.max_bytes))),
                };
                self.take(rest)
            }
            Form::Whole(_) | Form::Events(_) => self.take(piece),
        }
    }

    /// Reads a piece of a body whose form is known.
    fn take(&mut self, piece: &[u8]) -> Result<bool, ChatError> {
        let too_large = || too_large(self.endpoint.max_bytes);
        match &mut self.form {
            Form::Unknown => {}
            Form::Whole(whole) if whole.len() + piece.len() > self.endpoint.max_bytes => {
                return Err(too_large());
            }
            Form::Whole(whole) => whole.extend_from_slice(piece),
            Form::Events(reader) => {
                reader.push(piece).map_err(|_| too_large())?;
                let events: Vec<SseEvent> = std::iter::from_fn(|| reader.pop()).collect();
                for event in events {
                    if self.event(&event)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Reads an event. Returns whether the event is the last one.
    fn event(&mut self, event: &SseEvent) -> Result<bool, ChatError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return if self.fold.has_begun() {
                Ok(true)
            } else {
                Err(self.none("it is a stream without choices"))
            };
        }
        match read_foreign(data.as_bytes(), MAX_FOREIGN_VALUES) {
            Ok(chunk) if event.event == "error" => Err(failed(&chunk, None, &self.endpoint)),
            Ok(chunk) => self.chunk(&chunk).map(|()| false),
            Err(_) if event.event == "error" => {
                Err(failed(&Value::from(data), None, &self.endpoint))
            }
            // An empty event that keeps the connection open.
            Err(_) if data.is_empty() => Ok(false),
            Err(unfit @ UnfitJson::TooManyValues { .. }) => Err(too_many(&unfit)),
            Err(unfit) => {
                let data = excerpt(&self.endpoint.redacted(data));
                Err(malformed(&format!("an event of it {unfit}: {data}")))
            }
        }
    }

    fn chunk(&mut self, chunk: &Value) -> Result<(), ChatError> {
        let chunk = chunk.as_array().and_then(|list| list.first()).unwrap_or(chunk);
        let choices = chunk.get("choices").and_then(Value::as_array).into_iter().flatten();
        let mut failing = choices.filter(|choice| choice["finish_reason"] == "error");
        if let Some(error) = error_in(chunk).or_else(|| failing.next()) {
            self.fold.note_usage(chunk);
            return Err(failed(error, None, &self.endpoint));
        }
        match self.fold.add(chunk) {
            Ok(deltas) => {
                self.deltas.extend(deltas);
                Ok(())
            }
            Err(TooMuch::Bytes) => Err(too_large(self.endpoint.max_bytes)),
            Err(TooMuch::Values) => Err(too_many(&UnfitJson::TooManyValues {
                max_values: MAX_FOREIGN_VALUES,
                got: MAX_FOREIGN_VALUES + 1,
            })),
        }
    }

    /// Handles the end of the body.
    fn finish(&mut self) -> Result<(), ChatError> {
        match &mut self.form {
            Form::Unknown => Err(self.none("it is empty")),
            Form::Whole(whole) => {
                let whole = std::mem::take(whole);
                match read_foreign(&whole, MAX_FOREIGN_VALUES) {
                    Ok(json) => {
                        self.chunk(&json)?;
                        if self.fold.has_begun() {
                            Ok(())
                        } else {
                            Err(self.none("it has no choices"))
                        }
                    }
                    Err(UnfitJson::NotJson { is_cut: true, .. }) => {
                        Err(cut_off("it ended in the middle"))
                    }
                    Err(unfit @ UnfitJson::TooManyValues { .. }) => Err(too_many(&unfit)),
                    Err(unfit) => Err(self.none(&format!("it {unfit}"))),
                }
            }
            Form::Events(reader) => {
                // The rest without an empty line may be a whole event, or only the beginning of an event.
                let mut is_cut = false;
                if let Some(event) = reader.rest() {
                    is_cut = event.data.trim() != "[DONE]" && !is_json(&event.data);
                    if !is_cut && self.event(&event)? {
                        return Ok(());
                    }
                }
                if self.fold.has_ended() {
                    Ok(())
                } else if is_cut || self.fold.has_begun() {
                    Err(cut_off("it ended in the middle"))
                } else {
                    Err(self.none("it has no choices"))
                }
            }
        }
    }

    /// Handles a body that broke off: this is not an error if the model had already finished.
    fn broken(&self, error: &HttpError) -> Result<(), ChatError> {
        if self.fold.has_ended() {
            return Ok(());
        }
        Err(match error {
            HttpError::Silent { timeout_ms, .. } => {
                let text =
                    format!("the answer of the model stopped: nothing came within {timeout_ms} ms");
                ChatError::new(ChatErrorKind::Silent, text)
            }
            HttpError::TooLarge { .. } => too_large(self.endpoint.max_bytes),
            other => cut_off(&self.endpoint.redacted(&excerpt(&other.to_string()))),
        })
    }

    /// The error for an answer that is not the answer of a model.
    fn none(&self, reason: &str) -> ChatError {
        let begin = excerpt(&self.endpoint.redacted(&String::from_utf8_lossy(&self.begin)));
        let kind = match self.content_type.as_str() {
            "" => String::new(),
            kind => format!("; its content type is {kind}"),
        };
        let begins =
            if begin.is_empty() { String::new() } else { format!(", and it begins: {begin}") };
        malformed(&format!("{reason}{kind}{begins}"))
    }
}

fn malformed(reason: &str) -> ChatError {
    let text = format!("the answer is none of a model: {reason}");
    ChatError::new(ChatErrorKind::Malformed, text)
}

/// The error in a chunk.
fn error_in(chunk: &Value) -> Option<&Value> {
    let error = chunk.get("error").filter(|error| !error.is_null());
    let is_error = |name: &str| chunk.get(name).and_then(Value::as_str) == Some("error");
    // An `error` that is `false` or empty does not report a failure.
    error
        .filter(|error| *error != &Value::Bool(false) && error.as_str() != Some(""))
        .map(|_| chunk)
        .or_else(|| (is_error("object") || is_error("type")).then_some(chunk))
}

fn is_json(text: &str) -> bool {
    let read = read_foreign_as::<serde::de::IgnoredAny>(text.as_bytes(), usize::MAX);
    // A whole event beyond the limits counts as JSON here; the reader refuses it later.
    !matches!(read, Err(UnfitJson::NotJson { .. }))
}

fn cut_off(reason: &str) -> ChatError {
    ChatError::new(ChatErrorKind::CutOff, format!("the answer of the model broke off: {reason}"))
}

fn too_large(max_bytes: usize) -> ChatError {
    let text = format!("the answer of the model has more than {max_bytes} bytes");
    ChatError::new(ChatErrorKind::TooLarge, text)
}

fn too_many(unfit: &UnfitJson) -> ChatError {
    ChatError::new(ChatErrorKind::TooLarge, format!("the answer of the model {unfit}"))
}

/// The largest stream, as a multiple of the largest answer: each chunk repeats the common members.
pub(crate) const MAX_STREAM_FACTOR: usize = 16;

/// The bytes before an answer that do not show its form: white space, and the bytes of a byte order mark.
const BLANKS: [u8; 7] = [b' ', b'\t', b'\r', b'\n', 0xef, 0xbb, 0xbf];

/// The length of the beginning of a body that is kept for an error, in bytes.
const BEGIN_BYTES: usize = 2_000;
