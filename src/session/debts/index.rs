//! The debt to the index: a row that shows the present status of the task.

use super::index_row::row_of;
use super::{Debt, Debts, Failure, Ledger, Progress, Statement};
use crate::port::{Clock, Indexed, Observation, StoreError, TaskStore};
use crate::session::TaskSession;
use crate::session::bell::Bell;
use crate::session::life::Life;
use crate::session::webhooks::Webhooks;
use a2a::model::{Generation, TaskId};

/// The debt to the index, by generations of the task.
pub(in crate::session) struct Index;

impl Debt for Index {
    /// The generation of the row.
    type Part = Generation;

    /// If the client has disconnected, no answer announces the task.
    const ANNOUNCES: bool = true;

    fn ledger(debts: &Debts) -> &Ledger {
        &debts.index
    }

    fn wanted(life: &Life, _: &Webhooks) -> u64 {
        life.status_generation().0
    }

    async fn next(session: &TaskSession) -> Option<Statement<'_, Generation>> {
        if !session.owes::<Self>() {
            return None;
        }
        gather(session.ports.clock.as_ref(), &session.bell, &session.life).await;
        // After a failure of storage, memory has changes that storage lacks; the next session pays the debt.
        session.flush().ok()?;
        let facts = session.life.facts()?;
        let row = session.life.with_machine(|machine| row_of(machine, facts))?;
        let part = row.generation;
        Some(Statement { part, result: session.ports.index.upsert(row) })
    }

    fn reached(generation: &Generation) -> u64 {
        generation.0
    }

    fn failed<'a>(
        task: &'a TaskId,
        _generation: &'a Generation,
        Failure { failures, retry_ms, reason }: Failure<'a>,
    ) -> Observation<'a> {
        Observation::IndexBehind { task, failures, retry_ms, reason }
    }

    fn store(store: &dyn TaskStore, progress: Progress) -> Result<(), StoreError> {
        store.set_indexed(progress.into())
    }
}

/// Waits for more changes to write with the same row, unless the task has settled.
async fn gather(clock: &dyn Clock, bell: &Bell, life: &Life) {
    bell.until(&|| life.is_settled(), clock.sleep(GATHER_MS)).await;
}

impl From<Indexed> for Progress {
    fn from(Indexed { generation, failures }: Indexed) -> Self {
        Self { reached: generation.0, failures }
    }
}

impl From<Progress> for Indexed {
    fn from(Progress { reached, failures }: Progress) -> Self {
        Self { generation: Generation(reached), failures }
    }
}

/// The time during which changes of a working task are collected for one row, in milliseconds.
const GATHER_MS: u64 = 300;
