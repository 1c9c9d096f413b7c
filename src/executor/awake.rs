//! The runs of an executor that are in memory.

use std::cell::RefCell;

use tokio::sync::oneshot;

use super::Turn;
use a2a::sorted::SortedMap;

/// The tasks whose runs are in memory, by their unique ids, with the listeners for the ends of these runs. A run in memory
/// receives a cancel through its turn. If the run is parked, was dropped or died with its process, the `cancel` hook must
/// end the run's work at other servers.
#[derive(Default)]
pub(super) struct AwakeRuns(RefCell<SortedMap<String, Vec<oneshot::Sender<()>>>>);

/// The registration of a run that is in memory. A call of [`end`](Self::end) or a drop of this value removes the
/// registration.
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
    /// Removes the registration, because the run has ended regularly.
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
