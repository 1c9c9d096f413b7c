//! A text on its way into an artifact, piece by piece.

use crate::executor::{Events, ExecutorError, Turn};
use a2a::model::{Artifact, Part, UnixMillis};

/// Puts text that comes in pieces into an artifact, a chunk each interval. Each text [begins](Self::begin) the artifact anew, so that
/// it never holds pieces of two.
pub(super) struct Writer<'a> {
    turn: &'a Turn,
    events: &'a Events,
    id: &'a str,
    interval_ms: u64,
    /// Text that is not in the artifact yet.
    unsaid: String,
    /// When the last chunk of this text was given; none before the first.
    said: Option<UnixMillis>,
}

impl<'a> Writer<'a> {
    /// Into the artifact of this id, whose chunks follow each other in this interval at most.
    pub(super) fn new(turn: &'a Turn, events: &'a Events, id: &'a str, interval_ms: u64) -> Self {
        Self { turn, events, id, interval_ms, unsaid: String::new(), said: None }
    }

    /// Another text begins.
    pub(super) fn begin(&mut self) {
        self.unsaid.clear();
        self.said = None;
    }

    /// Takes text, and gives it if its time has come.
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

    /// In how many milliseconds the text that was taken is to be given; `None` if there is none.
    pub(super) fn due_ms(&self) -> Option<u64> {
        if self.unsaid.is_empty() {
            return None;
        }
        let passed_ms = self.said.map(|said| self.turn.now().millis_since(said));
        Some(passed_ms.map_or(0, |passed| self.interval_ms.saturating_sub(passed)))
    }

    /// Gives what was taken.
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

    /// The text is whole. Gives what is left; with `stays`, says that the artifact is complete.
    ///
    /// # Errors
    ///
    /// If the task has ended.
    pub(super) fn end(&mut self, stays: bool) -> Result<(), ExecutorError> {
        let is_told = self.unsaid.is_empty() && !(stays && self.said.is_some());
        if is_told { Ok(()) } else { self.say(stays) }
    }

    /// A chunk. The first one has a name.
    fn chunk(&self, text: String, is_first: bool) -> Artifact {
        let named = Artifact::new(self.id, Part::text(text));
        if is_first { named } else { Artifact { name: None, ..named } }
    }
}
