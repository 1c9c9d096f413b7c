//! GetTask (spec §3.1.3): the task as it stands, or once it has gone on.

use super::TaskSession;
use crate::auth::Caller;
use a2a::error::Error;
use a2a::model::{GetTaskRequest, HistoryLimit};
use a2a::{Outcome, Terms};

/// The task as it stands; on terms that name a generation, once it has had an event after that, has
/// ended, or has been waited for long enough.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is none for this agent and caller; [`Error::Internal`] if storage
/// failed meanwhile.
pub async fn get_task(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    request: &GetTaskRequest,
    terms: Terms,
) -> Result<Outcome, Error> {
    session.authorize(agent, caller)?;
    session.note_poll();
    if let Some(after) = terms.after {
        let longest = session.limits().blocking_limit_ms;
        let limit_ms = terms.wait_ms.map_or(longest, |wait_ms| wait_ms.min(longest));
        let is_so = || session.generation() > after || session.is_over() || session.is_broken();
        session.until(&is_so, limit_ms).await;
        if session.is_broken() {
            return Err(session.internal());
        }
    }
    session.shown(HistoryLimit::from_wire(request.history_length), terms).map(Outcome::Task)
}
