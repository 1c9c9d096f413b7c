//! CancelTask (spec §3.1.5).

use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{HistoryLimit, TaskState};
use a2a::{Outcome, Terms};

/// Cancels the task at once; its run is told, and nothing that it says afterwards counts. Canceling
/// a canceled task again gives it as it is, whatever generation is expected.
///
/// # Errors
///
/// [`Error::GenerationMismatch`] if the task is not at the generation expected;
/// [`Error::TaskNotCancelable`] if it ended otherwise before; [`Error::Internal`] if storage fails.
pub fn cancel_task(task: Owned<'_>, terms: Terms) -> Result<Outcome, Error> {
    if task.state() != Some(TaskState::Canceled) {
        task.check_generation(terms.expected)?;
    }
    task.cancel()?;
    task.shown(HistoryLimit::All, terms).map(Outcome::Task)
}
