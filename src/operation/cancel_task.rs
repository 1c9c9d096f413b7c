//! CancelTask (spec §3.1.5).
//!
//! # A cancel
//!
//! 1. The front Worker decodes CancelTask, finds the object by the id, and passes the call to the object.
//! 2. The object opens its session for the caller and checks the owner (`session.owned_by`); other callers get TaskNotFound.
//! 3. `operation/cancel_task.rs` compares the expected generation, if the call names one. For an already canceled task, the
//!    answer is the unchanged task.
//! 4. `TaskMachine::cancel` decides: a terminal task is TaskNotCancelable; otherwise the entry `canceled` is appended.
//! 5. In one flush, the entry is stored, published to followers, enqueued for webhooks, and written to the index. The platform
//!    sends the answer when the row is durable.
//! 6. The run sees `Turn::is_canceled` (and `Turn::canceled().await` completes). It has five seconds to clean up; then it is
//!    dropped. Events that it emits afterwards are ignored.
//! 7. `AgentExecutor::cancel` is called once if there was a run in memory or a parked run (`session/run/hook.rs`). The hook is a
//!    future of its own: it continues if the run returns, panics or is dropped. The hook has five seconds; if there is a run in
//!    memory, they begin after those of the run. The executors of the Worker wait in the hook for the end of a run in memory
//!    (`AwakeRuns::has_left`), and then release the run's resources. If the executor requires the hook (`ensures_cancel`), the
//!    alarm calls the hook again after the process has died, and also after a run that was given up. The end of the hook writes
//!    the entry `ended`, after which the hook is not called again.

use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{HistoryLimit, TaskState};
use a2a::{Outcome, Terms};

/// Cancels the task at once. Its run is informed, and ignored from then on. For a task that is already canceled, returns the task
/// whatever generation is expected, unless the caller's dialect refuses a second cancel.
///
/// # Errors
///
/// [`Error::GenerationMismatch`] if the task is not at the expected generation; [`Error::TaskNotCancelable`] if it has ended in
/// another way, or if it is canceled and the dialect refuses a second cancel; [`Error::Internal`] if storage fails.
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
