//! The answer of an agent as it arrives, in whatever pieces: cut into the JSON of its verbs.

use std::collections::VecDeque;

use serde_json::Value;

use super::verb::short;
use a2a::binding::media_type::essence;
use a2a::client::SseReader;
use a2a::model::{MAX_FOREIGN_VALUES, UnfitJson, read_foreign};

/// How verbs are separated, as the content type says.
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
    /// The framing of a content type; `None` for one that holds no verbs.
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

/// The JSON of a verb, and where in the answer it stands, as `line 3`.
#[derive(Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) place: String,
    pub(super) value: Value,
}

/// Reads the frames of an answer. Any pieces give the same frames.
pub(super) struct Frames {
    framing: Framing,
    text: Utf8,
    /// The document or the line that is under way.
    buffer: Vec<u8>,
    /// How many bytes of it hold no end of a line.
    searched: usize,
    events: SseReader,
    /// How many lines or events were read.
    count: u64,
    /// The verbs of a document that is whole, and whether it was read.
    verbs: VecDeque<Frame>,
    is_read: bool,
}

impl Frames {
    /// A reader of an answer that has not begun.
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

    /// Takes the next piece of the answer. Its frames are then given by [`pop`](Self::pop).
    ///
    /// # Errors
    ///
    /// What is wrong with the answer.
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
    /// What is wrong with it, and where.
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

    /// The answer is over: gives one by one the frames that are left, if they are whole.
    ///
    /// # Errors
    ///
    /// If it ends in the middle of something, or holds nothing.
    pub(super) fn finish(&mut self) -> Result<Option<Frame>, String> {
        self.text.finish()?;
        match self.framing {
            Framing::Document => {
                if !std::mem::replace(&mut self.is_read, true) {
                    self.document()?;
                }
                Ok(self.verbs.pop_front())
            }
            // Some servers forget what ends the last one.
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

    /// The next whole line.
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

    /// The frame that was under way when the answer ended.
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

/// Whether what arrives is UTF-8.
#[derive(Default)]
struct Utf8 {
    /// The beginning of a letter whose rest is to come.
    tail: Vec<u8>,
    /// How many bytes were checked.
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
    // Cut before it is read: it may be large.
    short(&String::from_utf8_lossy(text.get(..1_000).unwrap_or(text)))
}

/// The largest document, line or event, in bytes. What a task takes of it is decided by its own limits.
const MAX_FRAME_BYTES: usize = 8 * 1024 * 1024;

const STREAM_THEM: &str = "answer with a stream instead";
