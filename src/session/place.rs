//! The place of a task in the quotas of its caller, before the index has a row of the task.
//!
//! The front Worker reserves the place before it sends a message that begins a task. The first row of the task takes it. A send that begins
//! no task gives it back; after a crash the place ends by itself.

use std::cell::Cell;

use super::debts::Index;
use super::{Sender, TaskSession};
use a2a::Terms;

/// True from the begin of a task that holds a place until the index has the row that takes it.
#[derive(Default)]
pub(super) struct Place(Cell<bool>);

impl Place {
    /// True until a row has taken the place that the task holds.
    pub(super) fn is_held(&self) -> bool {
        self.0.get()
    }

    /// Notes that the index has a row of the task.
    pub(super) fn note_taken(&self) {
        self.0.set(false);
    }
}

/// The place that is reserved for a send.
pub(crate) struct Reserved {
    agent: String,
    owner: String,
    /// True if the send has begun a task, or a draft.
    has_begun: Cell<bool>,
}

impl Reserved {
    /// The place for a message of this sender; `None` if none is reserved.
    pub(crate) fn by(sender: &Sender, terms: Terms) -> Option<Self> {
        terms.is_reserved.then(|| Self {
            agent: sender.agent.clone(),
            owner: sender.caller.owner().to_owned(),
            has_begun: Cell::new(false),
        })
    }

    /// Notes that the send has begun a task, or a draft.
    pub(crate) fn hold(&self, session: &TaskSession) {
        self.has_begun.set(true);
        session.place.0.set(true);
    }
}

impl TaskSession {
    /// Gives back the place that was reserved for a send, if the send has begun no task. If a row of a task that was there before is still
    /// being written, this row takes the place. What fails here ends by itself.
    pub(crate) async fn give_back(&self, reserved: Reserved) {
        let Reserved { agent, owner, has_begun } = reserved;
        let is_used = has_begun.get() && self.life.exists();
        if !is_used && !self.owes::<Index>() {
            let _ = self.ports.index.release(&agent, &owner).await;
        }
    }
}
