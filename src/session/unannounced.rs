//! Unannounced tasks: nothing outside of the object has the id of the task yet.
//!
//! Clients learn the id of a task that a blocking send begins from the answer to that send. Before the answer, most tasks have
//! ended and have their row in the index. So the alarm, which does the work that a crash has interrupted, is set only when the
//! task is *announced*: after a crash before the announcement, no client can name the object. For the same reason the first row
//! of the log may state in advance that the index has its row.

use std::cell::Cell;

use super::life::Life;
use crate::port::Indexed;

/// The moment at which a task that a message begins becomes known outside of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announcement {
    /// At once: by its events, by a notification, or by an answer that does not wait for the run.
    AtOnce,
    /// By the answer to a blocking send.
    ByTheAnswer,
}

/// A flag of a session: true while its task is unannounced.
#[derive(Default)]
pub(super) struct Unannounced(Cell<bool>);

impl Unannounced {
    /// Marks a task that begins as unannounced.
    pub(super) fn begin(&self) {
        self.0.set(true);
    }

    /// True if the task is unannounced.
    pub(super) fn is_on(&self) -> bool {
        self.0.get()
    }

    /// Marks the task as announced. Returns true if the task was unannounced.
    pub(super) fn end(&self) -> bool {
        self.0.take()
    }

    /// The progress of the index that the first row of the log states. For a settled task that is unannounced, the first row already
    /// states that the index has the task's row, which is about to be written: this saves an update of the first row.
    pub(super) fn first_progress(&self, life: &Life) -> Indexed {
        if self.is_on() && life.is_settled() {
            Indexed { generation: life.generation(), failures: 0 }
        } else {
            Indexed::default()
        }
    }
}
