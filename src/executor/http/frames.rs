//! Splits the answer of an agent into the JSON values of its verbs, independent of the pieces in which the bytes
//! arrive.

use std::collections::VecDeque;

use serde_json::Value;

use super::verb::short;
use a2a::binding::media_type::essence;
use a2a::client::SseReader;
use a2a::model::{MAX_FOREIGN_VALUES, UnfitJson, read_foreign};

/// The separation of verbs in an answer, by the content type of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// `application/json`: one verb, or a list of verbs.
    Document,
    /// `application/x-ndjson`: a verb in each line.
    Lines,
    /// `text/event-stream`: a verb as the data of each event.
    Events,
}

impl Framing {
    /// The framing of a content type; `None` if an answer of this type cannot contain verbs.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        match essence(content_type).to_ascii_lowercase().as_str() {
            "application/json" => Some(Self::Document),
            "text/event-stream" => Some(Self::Events),
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines" => Some(Self::Lines),
            _ => None,
        }
    }
}

/// The JSON value of a verb, and its position in the answer, for example `line 3`.
#[derive(Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) place: String,
    pub(super) value: Value,
}

/// Reads the frames of an answer. The frames do not depend on how the bytes are cut into pieces.
pub(super) struct Frames {
    framing: Framing,
    text: Utf8,
    /// The bytes of the document or line that is not complete yet.
    buffer: Vec<u8>,
    /// The number of bytes at the beginning of `buffer` that are known to contain no line break.
    searched: usize,
    events: SseReader,
    /// The number of lines or events read so far.
    count: u64,
    /// The verbs of a complete document. `is_read` is true if the document was parsed.
    verbs: VecDeque<Frame>,
    is_read: bool,
}

impl Frames {
    /// A reader for a new answer.
    pub(super) fn new(framing: Framing) -> Self {
        Self {
            framing,
            text: Utf8::default(),
            buffer: Vec::new(),
            searched: 0,
            events: SseReader::new(MAX_FRAME_BYTES),
            count: 0,
            verbs: VecDeque::new(),
            is_read: false,
        }
    }

    /// Adds the next piece of the answer. [`pop`](Self::pop) then returns the complete frames.
    ///
    /// # Errors
    ///
    /// The reason why the answer cannot be used.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), String> {
        self.text.check(piece)?;
        match self.framing {
            Framing::Events => {
                self.events.push(piece).map_err(|_| self.too_large("event", self.count + 1))
            }
            Framing::Document | Framing::Lines => {
                self.buffer.extend_from_slice(piece);
                Ok(())
            }
        }
    }

    /// The next frame that is complete.
    ///
    /// # Errors
    ///
    /// The reason why the frame cannot be used, with its position.
    pub(super) fn pop(&mut self) -> Result<Option<Frame>, String> {
        match self.framing {
            Framing::Document => {
                if self.buffer.len() > MAX_FRAME_BYTES {
                    Err(format!("it has more than {MAX_FRAME_BYTES} bytes; {STREAM_THEM}"))
                } else {
                    Ok(None)
                }
            }
            Framing::Events => {
                let Some(event) = self.events.pop() else { return Ok(None) };
                self.count += 1;
                self.frame("event", event.data.as_bytes()).map(Some)
            }
            Framing::Lines => loop {
                let Some(line) = self.line()? else { return Ok(None) };
                if !line.trim_ascii().is_empty() {
                    return self.frame("line", &line).map(Some);
                }
            },
        }
    }

    /// To be called when the answer has ended: returns the remaining frames one by one, if they are complete.
    ///
    /// # Errors
    ///
    /// If the answer ends in the middle of a frame, or is empty.
    pub(super) fn finish(&mut self) -> Result<Option<Frame>, String> {
        self.text.finish()?;
        match self.framing {
            Framing::Document => {
                if !std::mem::replace(&mut self.is_read, true) {
                    self.document()?;
                }
                Ok(self.verbs.pop_front())
            }
            // Some servers omit the blank line after the last event.
            Framing::Events => match self.events.rest() {
                Some(event) => {
                    self.count += 1;
                    self.last("event", event.data.as_bytes()).map(Some)
                }
                None => Ok(None),
            },
            Framing::Lines => {
                let line = std::mem::take(&mut self.buffer);
                self.count += 1;
                if line.trim_ascii().is_empty() {
                    Ok(None)
                } else {
                    self.last("line", &line).map(Some)
                }
            }
        }
    }

    /// The next complete line.
    fn line(&mut self) -> Result<Option<Vec<u8>>, String> {
        let unread = self.buffer.get(self.searched..).unwrap_or_default();
        let end = unread.iter().position(|byte| *byte == b'\n').map(|at| self.searched + at);
        if end.unwrap_or(self.buffer.len()) > MAX_FRAME_BYTES {
            return Err(self.too_large("line", self.count + 1));
        }
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return Ok(None);
        };
        let rest = self.buffer.split_off(end + 1);
        self.searched = 0;
        self.count += 1;
        Ok(Some(std::mem::replace(&mut self.buffer, rest)))
    }

    fn document(&mut self) -> Result<(), String> {
        let text = std::mem::take(&mut self.buffer);
        if text.trim_ascii().is_empty() {
            return Err("it is empty".to_owned());
        }
        match self.parse(&text).map_err(|problem| format!("it {problem}"))? {
            Value::Array(verbs) => {
                let verbs = verbs.into_iter().zip(1..);
                self.verbs = verbs
                    .map(|(value, number)| Frame { place: format!("verb {number}"), value })
                    .collect();
            }
            value => self.verbs.push_back(Frame { place: "verb 1".to_owned(), value }),
        }
        Ok(())
    }

    fn frame(&self, unit: &str, text: &[u8]) -> Result<Frame, String> {
        let place = format!("{unit} {}", self.count);
        match self.parse(text) {
            Ok(value) => Ok(Frame { place, value }),
            Err(problem) => Err(format!("{place} {problem}")),
        }
    }

    /// The frame that was not complete when the answer ended.
    fn last(&self, unit: &str, text: &[u8]) -> Result<Frame, String> {
        let place = format!("{unit} {}", self.count);
        match self.parse(text) {
            Ok(value) => Ok(Frame { place, value }),
            Err(_) => Err(format!("it ends in the middle of {place}: {}", excerpt(text))),
        }
    }

    fn parse(&self, text: &[u8]) -> Result<Value, String> {
        read_foreign(text, MAX_FOREIGN_VALUES).map_err(|unfit| match unfit {
            UnfitJson::NotJson { .. } => format!("{unfit}: {}", excerpt(text)),
            beyond => beyond.to_string(),
        })
    }

    fn too_large(&self, unit: &str, number: u64) -> String {
        format!("{unit} {number} has more than {MAX_FRAME_BYTES} bytes")
    }
}

/// Checks that the bytes of the answer are UTF-8.
#[derive(Default)]
struct Utf8 {
    /// The first bytes of a character whose other bytes have not arrived.
    tail: Vec<u8>,
    /// The number of bytes checked.
    checked: usize,
}

impl Utf8 {
    fn check(&mut self, piece: &[u8]) -> Result<(), String> {
        let joined;
        let bytes = if self.tail.is_empty() {
            piece
        } else {
            joined = [&self.tail, piece].concat();
            joined.as_slice()
        };
        let (good, is_whole) = match std::str::from_utf8(bytes) {
            Ok(_) => (bytes.len(), true),
            Err(error) => (error.valid_up_to(), error.error_len().is_none()),
        };
        self.checked += good;
        self.tail = bytes.get(good..).unwrap_or_default().to_vec();
        if is_whole { Ok(()) } else { self.finish() }
    }

    fn finish(&self) -> Result<(), String> {
        if self.tail.is_empty() {
            Ok(())
        } else {
            Err(format!("it is not UTF-8 at byte {}", self.checked + 1))
        }
    }
}

fn excerpt(text: &[u8]) -> String {
    // The text is cut before it is decoded, because it may be large.
    short(&String::from_utf8_lossy(text.get(..1_000).unwrap_or(text)))
}

/// The largest document, line or event, in bytes. The limits of the task bound the stored size.
const MAX_FRAME_BYTES: usize = 8 * 1024 * 1024;

const STREAM_THEM: &str = "answer with a stream instead";
