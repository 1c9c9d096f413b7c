//! The debt to the index: a row that shows the present status of the task, or no row of a deleted task.
//!
//! The index has no order by ids. A statement names the instants of the earlier statuses that the index may show, and so finds the
//! older row of the task.

use std::cell::RefCell;

use super::index_row::row_of;
use super::{Debt, Debts, Failure, Ledger, Progress, Statement};
use crate::port::{Clock, IndexPlaces, Indexed, Observation, StoreError, TaskFacts, TaskStore};
use crate::session::TaskSession;
use crate::session::bell::Bell;
use crate::session::life::Life;
use crate::session::webhooks::Webhooks;
use crate::task::LogEntry;
use a2a::model::{Generation, TaskId, UnixMillis};

/// The debt to the index, by generations of the task.
pub(in crate::session) struct Index;

impl Debt for Index {
    /// The generation of the row.
    type Part = Generation;

    /// If the client has disconnected, no answer announces the task.
    const ANNOUNCES: bool = true;

    const IS_TIMED: bool = true;

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
        if session.life.is_deleted() {
            return removal(session);
        }
        gather(session.ports.clock.as_ref(), &session.bell, &session.life).await;
        // After a failure of storage, memory has changes that storage lacks; the next session pays the debt.
        session.flush().ok()?;
        let facts = session.life.facts()?;
        let Some(mut row) = session.life.with_machine(|machine| row_of(machine, facts)) else {
            // The task was deleted while changes were gathered.
            return removal(session);
        };
        row.earlier = session.debts.shown.before_sending(row.status_ms);
        row.bytes = session.journal.bytes();
        row.takes_place = session.place.is_held();
        let part = row.generation;
        Some(Statement { part, result: session.ports.index.upsert(row) })
    }

    fn reached(generation: &Generation) -> u64 {
        generation.0
    }

    fn note_paid(session: &TaskSession, _generation: &Generation) {
        session.debts.shown.note_sent();
        session.place.note_taken();
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

/// The statement that removes the row of a deleted task; `None` if the task is not deleted.
fn removal(session: &TaskSession) -> Option<Statement<'_, Generation>> {
    let part = session.life.with_tombstone(|remains| remains.generation)?;
    Some(Statement { part, result: session.ports.index.remove(places(session)?) })
}

/// Waits for more changes to write with the same row, unless the task has settled.
async fn gather(clock: &dyn Clock, bell: &Bell, life: &Life) {
    bell.until(&|| life.is_settled(), clock.sleep(GATHER_MS)).await;
}

/// The instants of the statuses that the row of the index may show. It is one if the newest statement has succeeded; each statement
/// whose result is unknown adds one.
pub(super) struct Shown(RefCell<Vec<UnixMillis>>);

impl Shown {
    /// The statuses that the index may show of a task with this log, if it is known to have the generation of `indexed`: the one of
    /// that generation, and all later ones, since a session that ended may have sent any of them.
    pub(super) fn of_log(log: &[LogEntry], indexed: Indexed) -> Self {
        let mut generation = Generation::NONE;
        let mut instants = Vec::new();
        for entry in log {
            if entry.is_event() {
                generation = generation.next();
            }
            let Some(status) = entry.status() else { continue };
            if generation <= indexed.generation {
                instants.clear();
            }
            let instant = status.instant();
            if instants.last() != Some(&instant) {
                instants.push(instant);
            }
        }
        Self(RefCell::new(instants))
    }

    /// The instants before a statement with this one is sent, without that one. The statement may have an effect from now on.
    fn before_sending(&self, instant: UnixMillis) -> Vec<UnixMillis> {
        let mut instants = self.0.borrow_mut();
        instants.retain(|known| *known != instant);
        let earlier = instants.clone();
        instants.push(instant);
        earlier
    }

    /// Records that the newest statement has succeeded, which has replaced all others.
    fn note_sent(&self) {
        let mut instants = self.0.borrow_mut();
        let newest = instants.pop();
        instants.clear();
        instants.extend(newest);
    }

    fn instants(&self) -> Vec<UnixMillis> {
        self.0.borrow().clone()
    }
}

/// The places at which the index may have the row of the task; `None` without a task.
pub(in crate::session) fn places(session: &TaskSession) -> Option<IndexPlaces> {
    let of_deleted = session.life.with_tombstone(|remains| {
        let TaskFacts { agent, owner, .. } = session.life.facts()?;
        let (id, instants) = (remains.task.clone(), remains.instants.clone());
        Some(IndexPlaces { id, agent, owner, instants, is_deleted: true })
    });
    if let Some(places) = of_deleted {
        return places;
    }
    session.life.with_live(|facts, machine| {
        let task = machine.task();
        let mut instants = session.debts.shown.instants();
        let present = task.status.instant();
        if !instants.contains(&present) {
            instants.push(present);
        }
        let (id, agent, owner) = (task.id.clone(), facts.agent.clone(), facts.owner.clone());
        IndexPlaces { id, agent, owner, instants, is_deleted: false }
    })
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
