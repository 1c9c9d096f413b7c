//! GetTask (spec §3.1.3): the task as it stands, or once it has gone on.

use futures_util::future::{Either, select};

use super::{Outcome, TaskSession, Terms};
use crate::auth::Caller;
use crate::error::Error;
use crate::executor::TurnHost;
use crate::model::{GetTaskRequest, HistoryLimit};

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
        wait(session, after, terms.wait_ms).await?;
    }
    session.shown(HistoryLimit::from_wire(request.history_length), terms).map(Outcome::Task)
}

async fn wait(session: &TaskSession, after: u64, wait_ms: Option<u64>) -> Result<(), Error> {
    let longest = session.limits().blocking_limit_ms;
    let mut limit = session.sleep(wait_ms.map_or(longest, |wait_ms| wait_ms.min(longest)));
    loop {
        // Registered before the check: a change in between is not missed.
        let changed = session.changed();
        if session.is_broken() {
            return Err(session.internal());
        }
        if session.generation() > after || session.is_over() {
            return Ok(());
        }
        match select(changed, limit).await {
            Either::Left(((), rest)) => limit = rest,
            Either::Right(_) => return Ok(()),
        }
    }
}
