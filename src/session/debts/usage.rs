//! The debt to the sums of usage: the ended turns that have used models.
//!
//! The use of a step is stored with the result of the step, so a turn owes the use of its steps, however the turn ended. Counting a turn
//! again after a crash changes nothing: D1 stores which turns are counted.

use super::{Debt, Debts, Failure, Ledger, Progress, Statement, is_owed, pay};
use crate::port::{Counted, CountedTurn, Observation, StoreError};
use crate::session::TaskSession;
use crate::task::Input;
use crate::usage::{StepUsage, TurnUsage, Usage};
use a2a::model::TaskId;

/// The debt to the sums of usage, by turns.
pub(in crate::session) struct Sums;

impl Debt for Sums {
    type Part = TurnUsage;

    fn ledger(debts: &Debts) -> &Ledger {
        &debts.sums
    }

    fn wanted(session: &TaskSession) -> u64 {
        session.life.with_machine(|machine| machine.turn_to_count()).unwrap_or(0)
    }

    /// Entries that are not stored yet could be lost in a crash, so their use is not counted before.
    fn may_begin(session: &TaskSession) -> bool {
        session.journal.unsaved_bytes() == 0
    }

    async fn next(session: &TaskSession) -> Option<Statement<'_, TurnUsage>> {
        let (reached, wanted) = (Self::ledger(&session.debts).reached(), Self::wanted(session));
        let found = session.life.with_machine(|machine| machine.usage().behind(reached).next());
        let is_due = |found: &TurnUsage| found.turn <= wanted && !session.health.is_broken();
        let turn = found.flatten().filter(is_due)?;
        let facts = session.life.facts();
        let (owner, agent) = facts.map(|facts| (facts.owner, facts.agent)).unwrap_or_default();
        let task = TaskId::new(session.object());
        let result = session.ports.usage.count(CountedTurn { task, owner, agent, turn });
        Some(Statement { part: turn, result })
    }

    fn reached(turn: &TurnUsage) -> u64 {
        turn.turn
    }

    fn failed<'a>(
        session: &'a TaskSession,
        _turn: &'a TurnUsage,
        Failure { failures, retry_ms, reason }: Failure<'a>,
    ) -> Observation<'a> {
        Observation::UsageUncounted { task: session.id(), failures, retry_ms, reason }
    }

    fn store(session: &TaskSession, progress: Progress) -> Result<(), StoreError> {
        session.store.set_counted(progress.into())
    }
}

/// Counts the turn of a run that stored nothing at its end, and sets the alarm, which repeats a failed attempt.
pub(in crate::session) fn count_at_end(session: &TaskSession) {
    if is_owed::<Sums>(session) {
        pay::<Sums>(session);
        session.arm();
    }
}

/// Adds to the log the use of models that no step has stored: it was recorded outside of steps, or by a step that was dropped.
pub(in crate::session) fn settle(session: &TaskSession) {
    if let Some(usage) = take_recorded(session) {
        // `Used` is legal as long as the run exists.
        let _ = session.step(Input::Used(usage));
    }
}

/// Takes the recorded use of models that no step has stored.
pub(in crate::session) fn take_recorded(session: &TaskSession) -> Option<StepUsage> {
    let used = session.run.take_used();
    told(session, used)
}

/// Adds to the log the use of models by requests whose answers could not be used. The entry is stored with the next row, and not with the
/// present step: the process may die before that step ends.
pub(in crate::session) fn settle_repeated(session: &TaskSession) {
    // Usage from before the task exists is recorded with the next step of its run.
    if session.life.exists()
        && let Some(usage) = told(session, Usage::NOTHING)
    {
        // `Used` is legal as long as the run exists.
        let _ = session.step(Input::Used(usage));
    }
}

/// This use of models, plus that by requests whose answers could not be used; none if both are zero.
fn told(session: &TaskSession, used: Usage) -> Option<StepUsage> {
    let repeated = session.run.take_repeated();
    let used = used.plus(repeated);
    (!used.is_nothing()).then(|| StepUsage { at_ms: session.now().0, used, repeated })
}

/// The use of models in the present turn, all attempts together.
pub(in crate::session) fn of_turn(session: &TaskSession) -> Usage {
    let stored = session.life.with_machine(|machine| machine.usage().of_turn(machine.turn()));
    stored.unwrap_or_default().plus(session.run.used())
}

impl From<Counted> for Progress {
    fn from(Counted { turn, failures }: Counted) -> Self {
        Self { reached: turn, failures }
    }
}

impl From<Progress> for Counted {
    fn from(Progress { reached, failures }: Progress) -> Self {
        Self { turn: reached, failures }
    }
}
