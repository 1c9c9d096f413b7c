//! The use of models in a run: recorded in memory, and stored with the steps of the run or by itself.

use super::state::RunState;
use crate::session::TaskSession;
use crate::session::life::Life;
use crate::task::Notice;
use crate::usage::models::NamedUsage;
use crate::usage::{StepUsage, Usage};
use a2a::model::UnixMillis;

/// Adds to the log the use of models that no step has stored: it was recorded outside of steps, or by a step that was dropped.
pub(super) fn settle(session: &TaskSession) {
    if let Some(usage) = take_recorded(&session.run, || session.now()) {
        session.note(Notice::Used(usage));
    }
}

/// Adds to the log the use of models by requests whose answers could not be used. The entry is stored with the next row, and not with the
/// present step: the process may die before that step ends.
pub(super) fn settle_repeated(session: &TaskSession) {
    // Usage from before the task exists is recorded with the next step of its run.
    if session.life.exists()
        && let Some(usage) = with_repeated(NamedUsage::default(), &session.run, || session.now())
    {
        session.note(Notice::Used(usage));
    }
}

/// Takes the recorded use of models that no step has stored.
pub(super) fn take_recorded(run: &RunState, now: impl FnOnce() -> UnixMillis) -> Option<StepUsage> {
    with_repeated(run.take_used(), run, now)
}

/// The sum of this use of models and the use by requests whose answers could not be used; `None` if both are zero.
fn with_repeated(
    used: NamedUsage,
    run: &RunState,
    now: impl FnOnce() -> UnixMillis,
) -> Option<StepUsage> {
    let NamedUsage { all, mut models } = used;
    let NamedUsage { all: repeated, models: more } = run.take_repeated();
    models.merge(more);
    let used = all.plus(repeated);
    (!used.is_nothing()).then(|| StepUsage { at_ms: now().0, used, repeated, models })
}

/// The use of models in the present turn, all attempts together.
pub(super) fn of_turn(life: &Life, run: &RunState) -> Usage {
    let stored = life.with_machine(|machine| machine.usage().of_turn(machine.turn()));
    stored.unwrap_or_default().plus(run.used())
}
