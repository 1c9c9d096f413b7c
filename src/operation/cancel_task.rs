//! CancelTask (spec §3.1.5).

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
