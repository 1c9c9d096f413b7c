//! Writes a streamed text into an artifact.

use crate::executor::{Events, ExecutorError, Turn};
use a2a::model::{Artifact, Part, UnixMillis};

/// Writes text that arrives in pieces into an artifact, at most one chunk per interval. Each text [begins](Self::begin) by
/// replacing the artifact, so that the artifact never contains pieces of two texts.
pub(super) struct Writer<'a> {
    turn: &'a Turn,
    events: &'a Events,
    id: &'a str,
    interval_ms: u64,
    /// Text that is not in the artifact yet.
    unsaid: String,
    /// The instant at which the last chunk of this text was emitted; `None` before the first.
    said: Option<UnixMillis>,
}

impl<'a> Writer<'a> {
    /// A writer for the artifact of this id, which emits at most one chunk in `interval_ms` milliseconds.
    pub(super) fn new(turn: &'a Turn, events: &'a Events, id: &'a str, interval_ms: u64) -> Self {
        Self { turn, events, id, interval_ms, unsaid: String::new(), said: None }
    }

    /// Begins another text.
    pub(super) fn begin(&mut self) {
        self.unsaid.clear();
        self.said = None;
    }

    /// Adds text, and emits it if a chunk is due.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub(super) fn take(&mut self, text: &str) -> Result<(), ExecutorError> {
        self.unsaid.push_str(text);
        match self.due_ms() {
            Some(0) => self.say(false),
            _ => Ok(()),
        }
    }

    /// The number of milliseconds until the held text must be emitted; `None` if no text is held.
    pub(super) fn due_ms(&self) -> Option<u64> {
        if self.unsaid.is_empty() {
            return None;
        }
        let passed_ms = self.said.map(|said| self.turn.now().millis_since(said));
        Some(passed_ms.map_or(0, |passed| self.interval_ms.saturating_sub(passed)))
    }

    /// Emits the held text.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub(super) fn say(&mut self, is_last: bool) -> Result<(), ExecutorError> {
        let text = std::mem::take(&mut self.unsaid);
        match self.said.replace(self.turn.now()) {
            None if is_last => self.events.artifact(self.chunk(text, true)),
            None => self.events.begin(self.chunk(text, true)),
            Some(_) => self.events.append(self.chunk(text, false), is_last),
        }
    }

    /// Ends the text: emits the rest. If `stays` is true, the artifact is marked as complete.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub(super) fn end(&mut self, stays: bool) -> Result<(), ExecutorError> {
        let is_told = self.unsaid.is_empty() && !(stays && self.said.is_some());
        if is_told { Ok(()) } else { self.say(stays) }
    }

    /// A chunk of the artifact. Only the first chunk has a name.
    fn chunk(&self, text: String, is_first: bool) -> Artifact {
        let named = Artifact::new(self.id, Part::text(text));
        if is_first { named } else { Artifact { name: None, ..named } }
    }
}
