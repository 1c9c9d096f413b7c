//! The debt to the sums of usage: the ended turns that have used models.
//!
//! The use of a step is stored with the result of the step, so a turn owes the use of its steps, independent of the end of the turn.
//! Counting a turn again after a crash changes nothing: D1 stores which turns are counted.

use super::{Debt, Debts, Failure, Ledger, Progress, Statement};
use crate::port::{Counted, CountedTurn, Observation, StoreError, TaskFacts, TaskStore};
use crate::session::TaskSession;
use crate::session::journal::Journal;
use crate::session::life::Life;
use crate::session::webhooks::Webhooks;
use crate::usage::TurnUsage;
use a2a::model::TaskId;

/// The debt to the sums of usage, by turns.
pub(in crate::session) struct Sums;

impl Debt for Sums {
    /// The number of the turn.
    type Part = u64;

    fn ledger(debts: &Debts) -> &Ledger {
        &debts.sums
    }

    fn wanted(life: &Life, _: &Webhooks) -> u64 {
        life.with_machine(|machine| machine.turn_to_count()).unwrap_or(0)
    }

    /// A crash could lose unsaved entries, so their use of models is counted only after they are stored.
    fn may_begin(journal: &Journal) -> bool {
        journal.unsaved_bytes() == 0
    }

    async fn next(session: &TaskSession) -> Option<Statement<'_, u64>> {
        let reached = Self::ledger(&session.debts).reached();
        let wanted = Self::wanted(&session.life, &session.webhooks);
        let found = session.life.with_machine(|machine| machine.usage().behind(reached).next());
        let is_due = |found: &TurnUsage| found.turn <= wanted && !session.health.is_broken();
        let turn = found.flatten().filter(is_due)?;
        let TaskFacts { owner, agent, .. } = session.life.facts()?;
        let task = session.object.clone();
        let part = turn.turn;
        let result = session.ports.usage.count(CountedTurn { task, owner, agent, turn });
        Some(Statement { part, result })
    }

    fn reached(turn: &u64) -> u64 {
        *turn
    }

    fn failed<'a>(
        task: &'a TaskId,
        _turn: &'a u64,
        Failure { failures, retry_ms, reason }: Failure<'a>,
    ) -> Observation<'a> {
        Observation::UsageUncounted { task, failures, retry_ms, reason }
    }

    fn store(store: &dyn TaskStore, progress: Progress) -> Result<(), StoreError> {
        store.set_counted(progress.into())
    }
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
