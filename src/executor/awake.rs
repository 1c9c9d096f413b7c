//! Which runs of an executor are in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;

use tokio::sync::oneshot;

use super::Turn;

/// The tasks whose runs are in memory, by their unique ids, and who waits for the ends of these runs. A run in memory notices a
/// cancel by itself; what one has left that is parked, was dropped or died with its process, somebody else has to end.
#[derive(Default)]
pub(super) struct AwakeRuns(RefCell<BTreeMap<String, Vec<oneshot::Sender<()>>>>);

/// A run in memory, until it ends or is dropped.
pub(super) struct Awake<'a> {
    runs: &'a AwakeRuns,
    id: &'a str,
}

impl AwakeRuns {
    /// The run of a turn is in memory from now on.
    pub(super) fn wake<'a>(&'a self, turn: &'a Turn) -> Awake<'a> {
        let id = turn.unique_id();
        self.0.borrow_mut().insert(id.to_owned(), Vec::new());
        Awake { runs: self, id }
    }

    /// Waits until no run of the task of this turn is in memory. Whether it has not come to its end: it was dropped, or
    /// there was none.
    pub(super) async fn has_left(&self, turn: &Turn) -> bool {
        let end = match self.0.borrow_mut().get_mut(turn.unique_id()) {
            Some(waiting) => {
                let (sender, end) = oneshot::channel();
                waiting.push(sender);
                end
            }
            None => return true,
        };
        end.await.is_err()
    }
}

impl Awake<'_> {
    /// The run has come to its end.
    pub(super) fn end(self) {
        let waiting = self.runs.0.borrow_mut().remove(self.id);
        for waits in waiting.unwrap_or_default() {
            // Whoever waited may have given up.
            let _ = waits.send(());
        }
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.runs.0.borrow_mut().remove(self.id);
    }
}
