//! Whether a session is still true to its storage, and whether its runs were lost.

use std::cell::Cell;

/// What has gone wrong in a session.
#[derive(Default)]
pub(super) struct Health {
    is_broken: Cell<bool>,
    crashes: Cell<u64>,
}

impl Health {
    /// Whether the memory may be ahead of the storage, so that the session must be opened anew.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.get()
    }

    /// From now on the session is of no use.
    pub(super) fn break_down(&self) {
        self.is_broken.set(true);
    }

    /// How many times clients that wait have lost what they wait for. Each gets an error if the number has
    /// grown while it waited.
    pub(super) fn crashes(&self) -> u64 {
        self.crashes.get()
    }

    /// What clients wait for will not come.
    pub(super) fn note_crash(&self) {
        self.crashes.set(self.crashes.get() + 1);
    }
}
