//! The debt to the index: a row that shows the present status of the task.

use super::index_row::row_of;
use super::{Debt, Debts, Failure, Ledger, Progress, Statement, is_owed};
use crate::port::{Indexed, Observation, StoreError};
use crate::session::TaskSession;

/// The debt to the index, by generations of the task.
pub(in crate::session) struct Index;

impl Debt for Index {
    /// The generation of the row.
    type Part = u64;

    fn ledger(debts: &Debts) -> &Ledger {
        &debts.index
    }

    fn wanted(session: &TaskSession) -> u64 {
        session.life.status_generation()
    }

    async fn next(session: &TaskSession) -> Option<Statement<'_, u64>> {
        if !is_owed::<Self>(session) {
            return None;
        }
        gather(session).await;
        // After a failure of storage, memory has more than storage; the session opened next pays the debt.
        session.flush().ok()?;
        let facts = session.life.facts()?;
        let row = session.life.with_machine(|machine| row_of(machine, facts))?;
        let part = row.generation;
        Some(Statement { part, result: session.ports.index.upsert(row) })
    }

    fn reached(generation: &u64) -> u64 {
        *generation
    }

    fn failed<'a>(
        session: &'a TaskSession,
        _generation: &'a u64,
        Failure { failures, retry_ms, reason }: Failure<'a>,
    ) -> Observation<'a> {
        Observation::IndexBehind { task: session.id(), failures, retry_ms, reason }
    }

    fn store(session: &TaskSession, progress: Progress) -> Result<(), StoreError> {
        session.store.set_indexed(progress.into())
    }

    fn note_end(session: &TaskSession) {
        // The client may have left, so that no answer announces the task.
        session.announce();
        session.arm();
    }
}

/// Waits for more changes to write with the same row, unless the task has settled.
async fn gather(session: &TaskSession) {
    let limit = session.ports.clock.sleep(GATHER_MS);
    session.bell.until(&|| session.life.is_settled(), limit).await;
}

impl From<Indexed> for Progress {
    fn from(Indexed { generation, failures }: Indexed) -> Self {
        Self { reached: generation, failures }
    }
}

impl From<Progress> for Indexed {
    fn from(Progress { reached, failures }: Progress) -> Self {
        Self { generation: reached, failures }
    }
}

/// The time during which changes of a working task are collected for one row, in milliseconds.
const GATHER_MS: u64 = 300;
