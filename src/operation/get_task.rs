//! GetTask (spec §3.1.3).

use super::{Outcome, TaskSession};
use crate::auth::Caller;
use crate::error::Error;
use crate::model::{GetTaskRequest, HistoryLimit};

/// The task as it stands.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is none for this agent and caller.
pub fn get_task(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    request: &GetTaskRequest,
) -> Result<Outcome, Error> {
    session.authorize(agent, caller)?;
    session.note_poll();
    session.shown(HistoryLimit::from_wire(request.history_length)).map(Outcome::Task)
}
