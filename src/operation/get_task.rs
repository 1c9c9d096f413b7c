//! GetTask (spec §3.1.3): the current task, or the task after its next event.

use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{GetTaskRequest, HistoryLimit};
use a2a::{Outcome, Terms};

/// The current task. If the terms name a generation, waits first until an event after that generation, the end of the
/// task, or the end of the waiting time.
///
/// # Errors
///
/// [`Error::Internal`] if storage failed while waiting.
pub async fn get_task(
    task: Owned<'_>,
    request: &GetTaskRequest,
    terms: Terms,
) -> Result<Outcome, Error> {
    task.note_poll();
    if let Some(after) = terms.after {
        let longest = task.limits().blocking_limit_ms;
        let limit_ms = terms.wait_ms.map_or(longest, |wait_ms| wait_ms.min(longest));
        let condition = || task.generation().0 > after || task.is_over() || task.is_broken();
        task.until(&condition, limit_ms).await;
        if task.is_broken() {
            return Err(task.internal());
        }
    }
    task.shown(HistoryLimit::from_wire(request.history_length), terms).map(Outcome::Task)
}
