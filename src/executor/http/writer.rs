//! Joins small pieces of text for an artifact, and emits them at a limited rate.

use super::super::{Events, ExecutorError, Turn};
use a2a::model::{Artifact, Part, UnixMillis};

/// Joins pieces of text that arrive shortly one after another. Each chunk of an artifact is an event that is stored and
/// sent, and a model may send a hundred pieces per second.
pub(super) struct Writer<'a> {
    turn: &'a Turn,
    events: &'a Events,
    interval_ms: u64,
    /// The id of the artifact, and the text that is held back for it.
    held: Option<(String, String)>,
    /// The instant at which the last chunk was emitted.
    said: Option<UnixMillis>,
}

impl<'a> Writer<'a> {
    /// A writer that emits at most one chunk in `interval_ms` milliseconds.
    pub(super) fn new(turn: &'a Turn, events: &'a Events, interval_ms: u64) -> Self {
        Self { turn, events, interval_ms, held: None, said: None }
    }

    /// Appends a text to the artifact of this id, which must have been begun. The text is emitted at once if the
    /// interval since the last chunk is over; otherwise it is held until then.
    ///
    /// # Errors
    ///
    /// The errors of [`Events::append`].
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

    /// The number of milliseconds until the held text must be emitted; `None` if no text is held.
    pub(super) fn due_ms(&self) -> Option<u64> {
        self.held.as_ref()?;
        let passed_ms = self.said.map(|said| self.turn.now().millis_since(said));
        Some(passed_ms.map_or(0, |passed_ms| self.interval_ms.saturating_sub(passed_ms)))
    }

    /// Emits the text that is held back; `is_last` is true if this is the last chunk of its artifact.
    ///
    /// # Errors
    ///
    /// The errors of [`Events::append`].
    pub(super) fn flush(&mut self, is_last: bool) -> Result<(), ExecutorError> {
        let Some((id, text)) = self.held.take() else { return Ok(()) };
        self.said = Some(self.turn.now());
        let chunk = Artifact { name: None, ..Artifact::new(id, Part::text(text)) };
        self.events.append(chunk, is_last)
    }
}
