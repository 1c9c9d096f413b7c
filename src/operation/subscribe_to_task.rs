//! SubscribeToTask (spec §3.1.6): follows an existing task.

use crate::session::{Beginning, Owned};
use a2a::Terms;
use a2a::error::Error;
use a2a::model::{Generation, HistoryLimit};

/// Begins to follow a task: from the event after the generation `after`, or with a snapshot.
///
/// # Errors
///
/// [`Error::UnsupportedOperation`] for an ended task, unless `after` requests missed events, or the terms allow it;
/// [`Error::InvalidParams`] if `after` lies in the future; [`Error::Internal`] if storage fails.
pub fn subscribe_to_task(
    task: Owned<'_>,
    after: Option<Generation>,
    terms: Terms,
) -> Result<Beginning, Error> {
    if let Some(after) = after {
        return task.begin_with_missed(after);
    }
    if task.is_over() && !terms.shows_ended {
        let hint = "the task has ended, so nothing more will happen; get it with GetTask";
        return Err(Error::UnsupportedOperation(hint.to_owned()));
    }
    task.begin_with_snapshot(HistoryLimit::All, terms)
}
