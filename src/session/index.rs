//! What a task owes to the index: a row as new as its status. Rows are written in the background, and the
//! task never waits for one; what could not be written stays owed and is retried.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;

use futures_util::future::{Either, select};

use super::TaskSession;
use super::bell::Bell;
use super::index_row::row_of;
use crate::port::{Clock, IndexRow, Indexed, Observation};
use a2a::model::{UnixMillis, doubled};

/// How far the index has followed the task.
pub(super) struct IndexDebt {
    /// As far as is known.
    indexed: Cell<Indexed>,
    /// As storage says.
    stored: Cell<Indexed>,
    /// Whether a future of this session writes rows.
    is_writing: Cell<bool>,
    retry_at: Cell<Option<UnixMillis>>,
    /// Rings when a row is written, and when writing ends.
    written: Bell,
}

impl IndexDebt {
    /// The debt of a task that the index has followed so far.
    pub(super) fn new(indexed: Indexed) -> Self {
        let (indexed, stored) = (Cell::new(indexed), Cell::new(indexed));
        let (is_writing, retry_at) = (Cell::new(false), Cell::new(None));
        Self { indexed, stored, is_writing, retry_at, written: Bell::default() }
    }

    /// The first row says this.
    pub(super) fn note_opened(&self, stored: Indexed) {
        self.stored.set(stored);
    }

    /// Whether the index is behind this generation.
    pub(super) fn owes(&self, generation: u64) -> bool {
        self.indexed.get().generation < generation
    }

    /// When writing is tried again, if it has failed.
    pub(super) fn retry_at(&self) -> Option<UnixMillis> {
        self.retry_at.get()
    }

    /// The alarm has fired: a retry that is due is not waited for any more.
    pub(super) fn note_alarm(&self, now: UnixMillis) {
        if self.retry_at.get().is_some_and(|at| at <= now) {
            self.retry_at.set(None);
        }
    }

    /// Whether somebody has to begin to write: the index is behind this generation, nobody writes, and no retry
    /// is set for later. Whoever is told so begins.
    fn begin_writing(&self, generation: u64, now: UnixMillis) -> bool {
        let is_later = self.retry_at.get().is_some_and(|at| at > now);
        self.owes(generation) && !is_later && !self.is_writing.replace(true)
    }

    fn end_writing(&self) {
        self.is_writing.set(false);
        self.written.ring();
    }

    /// Takes down that a row of this generation is written.
    fn note_written(&self, generation: u64) {
        self.indexed.set(Indexed { generation, failures: 0 });
        self.written.ring();
    }

    /// Takes down that a row could not be written; gives the number of failures, and the time before the next attempt in
    /// milliseconds.
    fn note_failed(&self, now: UnixMillis) -> (u32, u64) {
        let indexed = self.indexed.get();
        let failures = indexed.failures.saturating_add(1);
        let retry_ms = retry_delay_ms(failures);
        self.indexed.set(Indexed { failures, ..indexed });
        self.retry_at.set(Some(now.after(retry_ms)));
        (failures, retry_ms)
    }

    /// What is known, if storage says otherwise.
    fn unstored(&self) -> Option<Indexed> {
        let indexed = self.indexed.get();
        (indexed != self.stored.get()).then_some(indexed)
    }

    /// Waits until nobody writes any more.
    pub(super) async fn until_written(&self) {
        let never = Box::pin(std::future::pending());
        self.written.until(&|| !self.is_writing.get(), never).await;
    }
}

/// Lets the index follow, unless that is under way or waits for a retry.
pub(super) fn project(session: &TaskSession) {
    if session.health.is_broken() {
        return;
    }
    if let Some(handle) = session.handle()
        && session.index.begin_writing(session.life.status_generation(), session.now())
    {
        session.ports.runtime.spawn(Box::pin(write_owed_rows(handle)));
    }
}

/// Waits until listing shows the task as it stands now: for `INDEX_WAIT_MS` at most, and not at all for an index
/// that is known to be down.
pub(super) async fn until_indexed(session: &TaskSession) {
    let (index, wanted) = (&session.index, session.life.status_generation());
    let is_done = || !index.owes(wanted) || !index.is_writing.get();
    index.written.until(&is_done, session.ports.clock.sleep(session.limits.index_wait_ms)).await;
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
    session.index.end_writing();
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
    session.index.note_written(generation);
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
    let Some(indexed) = session.index.unstored() else { return };
    match session.store.set_indexed(indexed) {
        Ok(()) => session.index.stored.set(indexed),
        Err(error) => {
            let (task, reason) = (session.id(), error.to_string());
            session.observe(&Observation::StoringFailed { task, reason: &reason });
        }
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

    #[test]
    fn one_writes_at_a_time_and_only_what_is_owed() {
        let debt = IndexDebt::new(Indexed { generation: 2, failures: 0 });
        let now = UnixMillis(0);
        assert!(!debt.begin_writing(2, now), "nothing is owed");
        assert!(debt.begin_writing(3, now));
        assert!(!debt.begin_writing(4, now), "somebody writes");
        debt.note_written(3);
        assert_eq!(debt.unstored(), Some(Indexed { generation: 3, failures: 0 }));
        debt.end_writing();
        assert!(!debt.owes(3) && debt.owes(4));
    }

    #[test]
    fn progress_that_storage_said_in_advance_is_not_stored_again() {
        let debt = IndexDebt::new(Indexed::default());
        debt.note_opened(Indexed { generation: 3, failures: 0 });
        assert!(debt.owes(3), "it is not true yet");
        assert_eq!(debt.unstored(), Some(Indexed::default()), "what to take it back by");
        debt.note_written(3);
        assert_eq!(debt.unstored(), None);
        debt.note_written(4);
        assert_eq!(debt.unstored(), Some(Indexed { generation: 4, failures: 0 }));
    }

    #[test]
    fn after_a_failure_nobody_writes_until_the_alarm_of_its_retry() {
        let debt = IndexDebt::new(Indexed { generation: 0, failures: 1 });
        assert!(debt.begin_writing(1, UnixMillis(0)));
        assert_eq!(debt.note_failed(UnixMillis(0)), (2, 2_000));
        debt.end_writing();
        assert!(!debt.begin_writing(1, UnixMillis(1_999)));
        debt.note_alarm(UnixMillis(1_999));
        assert_eq!(debt.retry_at(), Some(UnixMillis(2_000)), "another alarm, too early");
        debt.note_alarm(UnixMillis(2_000));
        assert_eq!(debt.retry_at(), None);
        assert!(debt.begin_writing(1, UnixMillis(2_000)));
    }
}
