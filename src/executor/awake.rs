//! Which runs of an executor are in memory.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::Turn;

/// The tasks whose runs are in memory, by their unique ids: those notice a cancel by themselves, while for one that is parked
/// somebody else has to end what it has begun outside.
#[derive(Default)]
pub(super) struct AwakeRuns(RefCell<BTreeSet<String>>);

/// A run in memory, until it is dropped.
pub(super) struct Awake<'a> {
    runs: &'a AwakeRuns,
    id: &'a str,
}

impl AwakeRuns {
    /// The run of a turn is in memory from now on.
    pub(super) fn wake<'a>(&'a self, turn: &'a Turn) -> Awake<'a> {
        let id = turn.unique_id();
        self.0.borrow_mut().insert(id.to_owned());
        Awake { runs: self, id }
    }

    /// Whether a run of the task of this turn is in memory.
    pub(super) fn has(&self, turn: &Turn) -> bool {
        self.0.borrow().contains(turn.unique_id())
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.runs.0.borrow_mut().remove(self.id);
    }
}
