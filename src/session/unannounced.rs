//! A task that nobody outside of its object knows of.
//!
//! The first that anybody outside learns of a task that a plain send begins is the answer, and the answer waits for what
//! comes of the message. Most tasks are over by then, and in the index. So the alarm, which is there for what a crash
//! would leave undone, is not set before the task is *announced*: a crash until then leaves an object that nobody asks
//! for. For the same reason the first row may say in advance what the index will have.

use std::cell::Cell;

use super::TaskSession;
use super::debts::{self, Index};
use crate::port::Indexed;

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

/// Announces the task: from here on storage says what is true, and the task has the alarm that it wants.
pub(super) fn announce(session: &TaskSession) {
    if session.unannounced.end() && !session.is_broken() {
        debts::store_progress::<Index>(session);
        session.arm();
    }
}

/// What the first row says of the index. When a task has come to rest before anybody knows of it, the row of the index is
/// about to be written, and most likely is before anybody does: that is one row less to write here.
pub(super) fn first_progress(session: &TaskSession) -> Indexed {
    if session.unannounced.is_on() && session.life.is_settled() {
        Indexed { generation: session.life.generation(), failures: 0 }
    } else {
        Indexed::default()
    }
}
