//! CancelTask (spec §3.1.5).
//!
//! # A cancel
//!
//! 1. The front Worker decodes CancelTask, finds the object by the id, and hands the call on.
//! 2. The object opens its session for the caller and checks the owner (`session.owned_by`); a stranger gets TaskNotFound.
//! 3. `operation/cancel_task.rs` compares the expected generation, if the call names one. A task that is canceled already is answered as it is.
//! 4. `TaskMachine::step(Input::Cancel)` decides: a terminal task is TaskNotCancelable; otherwise the entry `canceled` is appended.
//! 5. The entry is stored, published to followers, enqueued for webhooks, and the index is told, all in one flush. The answer leaves when the row is durable.
//! 6. The run sees `Turn::is_canceled` (and `Turn::canceled().await` completes). It has five seconds to clean up; then it is dropped. Nothing that it emits afterwards counts.
//! 7. `AgentExecutor::cancel` is called once if there was a run in memory or parked (`session/run/hook.rs`), in a task of its own: that the run returns, panics or is dropped does not end it. It has five seconds, and those of a run in memory
//!    as well. The executors of the Worker wait in it for the end of a run in memory (`AwakeRuns::has_left`), and release what that has left. If the executor wants it for sure (`ensures_cancel`), the hook is called again
//!    by the alarm if the process has died, and also after a run that was given up: the entry `ended`, which the end of the hook writes, says that it was told.

use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{HistoryLimit, TaskState};
use a2a::{Outcome, Terms};

/// Cancels the task at once; its run is told, and nothing that it says afterwards counts. Canceling
/// a canceled task again gives it as it is, whatever generation is expected, unless the caller's dialect refuses that.
///
/// # Errors
///
/// [`Error::GenerationMismatch`] if the task is not at the generation expected;
/// [`Error::TaskNotCancelable`] if it ended before, otherwise than by a cancel, or at all where a second cancel is refused; [`Error::Internal`] if storage fails.
pub fn cancel_task(task: Owned<'_>, terms: Terms) -> Result<Outcome, Error> {
    match task.state() {
        Some(state @ TaskState::Canceled) if terms.refuses_canceled => {
            return Err(Error::TaskNotCancelable { id: task.id().clone(), state });
        }
        Some(TaskState::Canceled) => {}
        _ => task.check_generation(terms.expected)?,
    }
    task.cancel()?;
    task.shown(HistoryLimit::All, terms).map(Outcome::Task)
}
