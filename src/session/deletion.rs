//! The deletion of a task, for two reasons.
//!
//! A finished task whose *retention* is over is deleted as a whole: first its row in the index, then the storage of its object.
//! If the storage were emptied first and deleting the row failed, nothing would find that row again.
//!
//! A task that a *caller* deletes must not be found from that moment on, whether the index answers or not. So its storage is
//! replaced by a [`Tombstone`] in one transaction, with the alarm in the same synchronous block: after a crash, the task is whole or
//! deleted. What the index then lacks is the removal of the row: the debt to the index (`debts/index.rs`), with the generation of
//! the deletion. It is paid before the call is answered, or by the alarm. A day later, the alarm empties the storage.

use super::TaskSession;
use super::attempt::within_limit;
use super::debts::{self, Index, Sums};
use super::tombstone::Tombstone;
use crate::port::{FirstRow, IndexPlaces, Observation, Ports, TaskFacts, TaskStore};
use a2a::error::Error;

/// The parts of a finished task to delete when its retention is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The row of the task in the index, then the storage of the task's object.
    Whole,
    /// The storage of the task's object; the sender of the request deletes the row.
    AllButItsRow,
}

/// Deletes a finished task whose retention is over. Returns true if the task is deleted. A failure is retried later; an unfinished
/// task is not deleted. A session without a task has nothing to delete, and the remains of a deleted task stay for their time.
pub(super) async fn expire(session: &TaskSession, deletion: Deletion) -> bool {
    let is_unfinished = session.life.exists() && !session.life.is_over();
    if is_unfinished || session.health.is_broken() {
        return false;
    }
    // A statement that is being sent would write the row again.
    session.debts.until_rest().await;
    if session.life.is_deleted() {
        return true;
    }
    let Some(places) = debts::places(session) else { return true };
    let removed = remove(places, deletion, session.store.as_ref(), &session.ports).await;
    note_emptied(session, removed)
}

/// Empties the storage of a task that a caller has deleted, if the time of its remains is over and the row is removed. The index
/// forgets the task first: nothing else would tell it to.
pub(super) async fn empty_if_due(session: &TaskSession) {
    let until = session.life.with_tombstone(|remains| session.retention.remains_until(remains));
    let is_due = until.is_some_and(|until| until <= session.now());
    if is_due && !session.owes::<Index>() && !session.is_broken() {
        note_emptied(session, forget(session).await);
    }
}

async fn forget(session: &TaskSession) -> Result<(), String> {
    let TaskSession { ports, store, .. } = session;
    if let Some(TaskFacts { owner, .. }) = session.life.facts() {
        within_limit(ports.clock.as_ref(), ports.index.forget(session.id(), &owner)).await?;
    }
    store.clear().await.map_err(|error| error.to_string())
}

/// Records that the storage is empty, or that emptying it has failed and is repeated later. Returns true if it is empty.
fn note_emptied(session: &TaskSession, emptied: Result<(), String>) -> bool {
    match emptied {
        Ok(()) => {
            // Memory has a task that storage does not have any more.
            session.health.break_down();
            session.bell.ring();
            true
        }
        Err(reason) => {
            let (failures, retry_ms) = session.retention.note_failed(session.now());
            let (task, reason) = (session.id(), reason.as_str());
            session.observe(&Observation::DeletionPostponed { task, failures, retry_ms, reason });
            false
        }
    }
}

async fn remove(
    places: IndexPlaces,
    deletion: Deletion,
    store: &dyn TaskStore,
    ports: &Ports,
) -> Result<(), String> {
    if deletion == Deletion::Whole {
        within_limit(ports.clock.as_ref(), ports.index.remove(places)).await?;
    }
    store.clear().await.map_err(|error| error.to_string())
}

/// Deletes a task that has ended, because a caller wants it: replaces it by its tombstone, and begins to remove its row. A task that
/// is deleted already stays deleted. The use of models by its turns is counted first, since nothing else has it.
///
/// # Errors
///
/// [`Error::Internal`] if D1 or storage fails; the task is whole then.
pub(super) async fn bury(session: &TaskSession) -> Result<(), Error> {
    // The caller knows the task: from here on its alarm is set.
    session.announce();
    session.flush().map_err(|_| session.internal())?;
    debts::pay_now::<Sums>(session).await;
    if session.life.is_deleted() {
        return Ok(());
    }
    // No await from here on: the rows and the alarm are stored together.
    if session.is_broken() || session.owes::<Sums>() {
        return Err(session.internal());
    }
    let (Some(facts), Some(places)) = (session.life.facts(), debts::places(session)) else {
        return Err(session.internal());
    };
    let tombstone = Tombstone {
        task: session.id().clone(),
        generation: session.life.generation().next(),
        at: session.now(),
        instants: places.instants,
    };
    let indexed = session.debts.begin_removal();
    let opening = FirstRow { facts: &facts, indexed };
    let buried = session.store.bury(opening, &tombstone.to_batch());
    buried.map_err(|error| {
        session.give_up(&error);
        session.internal()
    })?;
    session.life.bury(tombstone);
    session.webhooks.clear();
    session.bell.ring();
    debts::pay::<Index>(session);
    session.arm();
    Ok(())
}
