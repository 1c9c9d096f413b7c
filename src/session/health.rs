//! Failures of a session: memory that may differ from storage, and lost results for which clients wait.

use std::cell::Cell;

/// The failures of a session.
#[derive(Default)]
pub(super) struct Health {
    is_broken: Cell<bool>,
    crashes: Cell<u64>,
}

impl Health {
    /// True if memory may have changes that storage does not have. The session must then be opened again.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.get()
    }

    /// Marks the session as broken.
    pub(super) fn break_down(&self) {
        self.is_broken.set(true);
    }

    /// The number of crashes that waiting clients must be informed of. A client gets an error if the number has grown while the client
    /// waited.
    pub(super) fn crashes(&self) -> u64 {
        self.crashes.get()
    }

    /// Counts a crash: the results for which clients wait are lost.
    pub(super) fn note_crash(&self) {
        self.crashes.set(self.crashes.get() + 1);
    }
}
