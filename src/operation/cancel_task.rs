//! CancelTask (spec §3.1.5).

use super::TaskSession;
use crate::auth::Caller;
use crate::port::Observation;
use crate::task::{Input, TaskError};
use a2a::error::Error;
use a2a::model::{HistoryLimit, TaskState};
use a2a::{Outcome, Terms};

/// Cancels the task at once; its run is told, and nothing that it says afterwards counts. Canceling
/// a canceled task again gives it as it is, whatever generation is expected.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is none for this agent and caller;
/// [`Error::GenerationMismatch`] if it is not at the generation expected;
/// [`Error::TaskNotCancelable`] if it ended otherwise before.
pub fn cancel_task(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    terms: Terms,
) -> Result<Outcome, Error> {
    session.authorize(agent, caller)?;
    if session.with_task(|task| task.status.state) != Some(TaskState::Canceled) {
        session.check_generation(terms.expected)?;
    }
    match session.step(Input::Cancel) {
        Ok(_) => {}
        Err(TaskError::NotCancelable(state)) => {
            return Err(Error::TaskNotCancelable { id: session.id().clone(), state });
        }
        Err(other) => return Err(Error::UnsupportedOperation(other.to_string())),
    }
    session.flush().map_err(|_| session.internal())?;
    session.observe(&Observation::TaskCanceled { agent, task: session.id() });
    session.shown(HistoryLimit::All, terms).map(Outcome::Task)
}
