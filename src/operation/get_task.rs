//! GetTask (spec §3.1.3): the task as it stands, or once it has gone on.

use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{GetTaskRequest, HistoryLimit};
use a2a::{Outcome, Terms};

/// The task as it stands; on terms that name a generation, once it has had an event after that, has
/// ended, or has been waited for long enough.
///
/// # Errors
///
/// [`Error::Internal`] if storage failed meanwhile.
pub async fn get_task(
    task: Owned<'_>,
    request: &GetTaskRequest,
    terms: Terms,
) -> Result<Outcome, Error> {
    task.note_poll();
    if let Some(after) = terms.after {
        let longest = task.limits().blocking_limit_ms;
        let limit_ms = terms.wait_ms.map_or(longest, |wait_ms| wait_ms.min(longest));
        let condition = || task.generation() > after || task.is_over() || task.is_broken();
        task.until(&condition, limit_ms).await;
        if task.is_broken() {
            return Err(task.internal());
        }
    }
    task.shown(HistoryLimit::from_wire(request.history_length), terms).map(Outcome::Task)
}
