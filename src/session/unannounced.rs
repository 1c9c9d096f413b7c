//! A task that nobody outside of its object knows of.
//!
//! The first that anybody outside learns of a task that a plain send begins is the answer, and the answer waits for what
//! comes of the message. Most tasks are over by then, and in the index. So the alarm, which is there for what a crash
//! would leave undone, is not set before the task is *announced*: a crash until then leaves an object that nobody asks
//! for. For the same reason the first row may say in advance what the index will have.

use std::cell::Cell;

/// When somebody outside of the object learns of a task that a message begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announcement {
    /// At once: by its events, by a notification, or by an answer that does not wait.
    AtOnce,
    /// By an answer that waits for what comes of the message.
    ByTheAnswer,
}

/// Whether the task of a session is unannounced.
#[derive(Default)]
pub(super) struct Unannounced(Cell<bool>);

impl Unannounced {
    /// A task begins that nobody knows of.
    pub(super) fn begin(&self) {
        self.0.set(true);
    }

    /// Whether nobody knows of the task.
    pub(super) fn is_on(&self) -> bool {
        self.0.get()
    }

    /// The task is announced. Whether it was unannounced until now.
    pub(super) fn end(&self) -> bool {
        self.0.take()
    }
}
