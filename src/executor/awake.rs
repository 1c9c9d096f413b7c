//! The runs of an executor that are in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;

use tokio::sync::oneshot;

use super::Turn;

/// The tasks whose runs are in memory, by their unique ids, with the listeners for the ends of these runs. A run in memory
/// notices a cancel by itself. If the run is parked, was dropped or died with its process, the `cancel` hook must end the work
/// that it began outside.
#[derive(Default)]
pub(super) struct AwakeRuns(RefCell<BTreeMap<String, Vec<oneshot::Sender<()>>>>);

/// The registration of a run that is in memory. It ends by [`end`](Self::end), or when it is dropped.
pub(super) struct Awake<'a> {
    runs: &'a AwakeRuns,
    id: &'a str,
}

impl AwakeRuns {
    /// Registers the run of a turn.
    pub(super) fn wake<'a>(&'a self, turn: &'a Turn) -> Awake<'a> {
        let id = turn.unique_id();
        self.0.borrow_mut().insert(id.to_owned(), Vec::new());
        Awake { runs: self, id }
    }

    /// Waits until no run of this turn's task is in memory. Returns true if no run has ended regularly: the run was dropped,
    /// or no run was registered.
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
    /// Ends the registration: the run has come to its end.
    pub(super) fn end(self) {
        let waiting = self.runs.0.borrow_mut().remove(self.id);
        for waits in waiting.unwrap_or_default() {
            // The receiver may have been dropped already.
            let _ = waits.send(());
        }
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.runs.0.borrow_mut().remove(self.id);
    }
}
