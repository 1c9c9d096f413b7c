//! Text that an artifact grows by, in pieces of others' making: said at most so often.

use super::super::{Events, ExecutorError, Turn};
use a2a::model::{Artifact, Part, UnixMillis};

/// Joins pieces of text that come in quick succession: each chunk of an artifact is an event that is stored and sent, and
/// a model gives a hundred pieces in a second.
pub(super) struct Writer<'a> {
    turn: &'a Turn,
    events: &'a Events,
    interval_ms: u64,
    /// The artifact, and the text that it is to grow by.
    held: Option<(String, String)>,
    /// When something was said last.
    said: Option<UnixMillis>,
}

impl<'a> Writer<'a> {
    /// A writer that says something every `interval_ms` milliseconds at most.
    pub(super) fn new(turn: &'a Turn, events: &'a Events, interval_ms: u64) -> Self {
        Self { turn, events, interval_ms, held: None, said: None }
    }

    /// Adds a text to the artifact of this id, which was begun. It is said at once if nothing was for an interval, else
    /// when that is over.
    ///
    /// # Errors
    ///
    /// As [`Events::append`].
    pub(super) fn append(&mut self, id: &str, text: &str) -> Result<(), ExecutorError> {
        match &mut self.held {
            Some((known, held)) if known == id => held.push_str(text),
            _ => {
                self.flush(false)?;
                self.held = Some((id.to_owned(), text.to_owned()));
            }
        }
        match self.due_ms() {
            Some(0) => self.flush(false),
            _ => Ok(()),
        }
    }

    /// In how many milliseconds the text that is held back is to be said; `None` if there is none.
    pub(super) fn due_ms(&self) -> Option<u64> {
        self.held.as_ref()?;
        let passed_ms = self.said.map(|said| self.turn.now().millis_since(said));
        Some(passed_ms.map_or(0, |passed_ms| self.interval_ms.saturating_sub(passed_ms)))
    }

    /// Says what is held back, as the last chunk of its artifact or not.
    ///
    /// # Errors
    ///
    /// As [`Events::append`].
    pub(super) fn flush(&mut self, is_last: bool) -> Result<(), ExecutorError> {
        let Some((id, text)) = self.held.take() else { return Ok(()) };
        self.said = Some(self.turn.now());
        let chunk = Artifact { name: None, ..Artifact::new(id, Part::text(text)) };
        self.events.append(chunk, is_last)
    }
}
