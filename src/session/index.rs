//! What a task owes to the index: a row as new as its status. Rows are written in the background, and the
//! task never waits for one; what could not be written stays owed and is retried.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;

use futures_util::future::{Either, select};

use super::TaskSession;
use super::debt::Progress;
use super::index_row::row_of;
use crate::port::{Clock, IndexRow, Indexed, Observation};
use a2a::model::doubled;

/// Lets the index follow, unless that is under way or waits for a retry.
pub(super) fn project(session: &TaskSession) {
    if session.health.is_broken() {
        return;
    }
    if let Some(handle) = session.handle()
        && session.index.begin(session.life.status_generation(), session.now())
    {
        session.ports.runtime.spawn(Box::pin(write_owed_rows(handle)));
    }
}

/// Waits until listing shows the task as it stands now: for `INDEX_WAIT_MS` at most, and not at all for an index
/// that is known to be down.
pub(super) async fn until_indexed(session: &TaskSession) {
    let (index, wanted) = (&session.index, session.life.status_generation());
    index.until_paid(wanted, session.ports.clock.sleep(session.limits.index_wait_ms)).await;
}

/// Writes rows until nothing is owed, or a row cannot be written now.
async fn write_owed_rows(session: Rc<TaskSession>) {
    while session.index.owes(session.life.status_generation()) {
        gather(&session).await;
        // A session that storage failed is ahead of its rows; the one opened next knows the debt.
        if session.health.is_broken() || session.flush().is_err() {
            break;
        }
        let Some(facts) = session.life.facts() else { break };
        let Some(row) = session.life.with_machine(|machine| row_of(machine, facts)) else { break };
        if let Err(reason) = write_row(&session, row).await {
            retry_later(&session, &reason);
            break;
        }
    }
    session.index.end();
    // What is still owed needs the alarm, also if the client has left and no answer announces the task.
    session.announce();
}

/// Waits for more changes to put into the same row, unless the task has come to rest.
async fn gather(session: &TaskSession) {
    let limit = session.ports.clock.sleep(GATHER_MS);
    session.bell.until(&|| session.life.is_settled(), limit).await;
}

async fn write_row(session: &TaskSession, row: IndexRow) -> Result<(), String> {
    let generation = row.generation;
    within_limit(session.ports.clock.as_ref(), session.ports.index.upsert(row)).await?;
    // If this is lost by a crash, the row is written once more, which does no harm.
    session.index.note_paid(generation);
    store_progress(session);
    session.arm();
    Ok(())
}

fn retry_later(session: &TaskSession, reason: &str) {
    let (failures, retry_ms) = session.index.note_failed(session.now());
    let task = session.id();
    session.observe(&Observation::IndexBehind { task, failures, retry_ms, reason });
    store_progress(session);
    session.arm();
}

/// Stores how far the index has followed, if that is not what storage says. While a task is unannounced, storage may be
/// ahead.
pub(super) fn store_progress(session: &TaskSession) {
    let Some(progress) = session.index.unstored() else { return };
    match session.store.set_indexed(progress.into()) {
        Ok(()) => session.index.note_stored(progress),
        Err(error) => {
            let (task, reason) = (session.id(), error.to_string());
            session.observe(&Observation::StoringFailed { task, reason: &reason });
        }
    }
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

/// What a statement on the index comes to, or an error if that takes too long.
///
/// # Errors
///
/// Why it is not known to have taken effect.
pub(super) async fn within_limit(
    clock: &dyn Clock,
    statement: impl Future<Output = Result<(), String>>,
) -> Result<(), String> {
    match select(pin!(statement), clock.sleep(STATEMENT_LIMIT_MS)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(format!("no answer within {STATEMENT_LIMIT_MS} ms")),
    }
}

/// How long to wait before the next statement after this many have failed, in milliseconds.
pub(super) fn retry_delay_ms(failures: u32) -> u64 {
    doubled(1_000, failures, MAX_RETRY_DELAY_MS)
}

/// How long changes of a task at work are gathered into one row, in milliseconds.
const GATHER_MS: u64 = 300;

/// How long a statement may go unanswered before it counts as failed, in milliseconds. It may still
/// take effect: rows are guarded by generation.
const STATEMENT_LIMIT_MS: u64 = 10_000;

/// The longest time between two attempts: 5 minutes, in milliseconds.
const MAX_RETRY_DELAY_MS: u64 = 300_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_come_less_and_less_often() {
        let delays: Vec<u64> = [1, 2, 3, 9, 10, 100, u32::MAX].map(retry_delay_ms).into();
        assert_eq!(delays, [1_000, 2_000, 4_000, 256_000, 300_000, 300_000, 300_000]);
    }
}
