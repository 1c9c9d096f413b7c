//! The debts of a task to its followers in D1: the row of the index, the sums of usage, the list of webhooks in trouble.
//!
//! A debt is paid in the background; the task does not wait for the payment. [`Debt`] has the differences between debts: the
//! generation that the follower has to reach, the next statement, and the place of the stored progress. This module has the
//! mechanism: one future at a time pays until nothing is owed; a statement that fails or takes too long is repeated later; the
//! alarm repeats a payment that a crash interrupts. The progress is stored after the statement. After a crash between the two,
//! the statement is repeated, which changes nothing.

mod index;
mod index_row;
mod ledger;
mod troubles;
mod usage;

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::TaskSession;
use super::attempt::within_limit_unless_late;
use super::journal::Journal;
use super::life::Life;
use super::webhooks::Webhooks;
use crate::executor::{RunOutside, TimedWork};
use crate::port::{Counted, Indexed, Observation, StoreError, TaskStore};
use crate::task::{DEBTS, LogEntry, Owed};
use a2a::model::{TaskId, UnixMillis};
use index::Shown;
pub(super) use index::{Index, places};
use ledger::{Ledger, Progress};
pub(super) use troubles::Troubles;
pub(super) use usage::Sums;

/// The accounts of a task, one for each of its debts.
pub(super) struct Debts {
    index: Ledger,
    sums: Ledger,
    troubles: Ledger,
    /// The statuses that the index may show.
    shown: Shown,
}

/// A debt to one follower of the task.
pub(super) trait Debt: 'static {
    /// The part of the debt that one statement pays.
    type Part;

    /// True if the task is announced when paying ends: the paid statement may be the first trace of the task outside of its
    /// object.
    const ANNOUNCES: bool = false;

    /// True if the duration of the statements is observed.
    const IS_TIMED: bool = false;

    /// The account of this debt.
    fn ledger(debts: &Debts) -> &Ledger;

    /// The generation (or turn) that the follower has to reach.
    fn wanted(life: &Life, webhooks: &Webhooks) -> u64;

    /// True if paying may begin now.
    fn may_begin(_journal: &Journal) -> bool {
        true
    }

    /// The next statement; `None` if nothing is owed.
    async fn next(session: &TaskSession) -> Option<Statement<'_, Self::Part>>;

    /// The generation (or turn) that the follower has reached with this part.
    fn reached(part: &Self::Part) -> u64;

    /// Called when this part is paid.
    fn note_paid(_session: &TaskSession, _part: &Self::Part) {}

    /// The observation of a statement that has failed.
    fn failed<'a>(task: &'a TaskId, part: &'a Self::Part, failure: Failure<'a>) -> Observation<'a>;

    /// Stores the progress.
    ///
    /// # Errors
    ///
    /// If storage fails. Some statements are then repeated after a crash.
    fn store(_store: &dyn TaskStore, _progress: Progress) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A statement that was sent to a follower.
pub(super) struct Statement<'a, P> {
    part: P,
    /// The result. After an error, the statement may or may not have had an effect.
    result: LocalBoxFuture<'a, Result<(), String>>,
}

/// A statement that has failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure<'a> {
    /// The number of statements failed since the last success.
    failures: u32,
    /// The time before the next attempt, in milliseconds.
    retry_ms: u64,
    reason: &'a str,
}

impl Debts {
    /// The debts of a task with its stored progress and its log.
    pub(super) fn new(indexed: Indexed, counted: Counted, log: &[LogEntry]) -> Self {
        Self {
            index: Ledger::new(indexed),
            sums: Ledger::new(counted),
            troubles: Ledger::new(Progress::default()),
            shown: Shown::of_log(log, indexed),
        }
    }

    /// Records the progress of the index that the first row of the log states.
    pub(super) fn note_indexed_in_advance(&self, indexed: Indexed) {
        self.index.note_stored(indexed);
    }

    /// Records that the index owes the removal of the row, whatever has failed before. Returns the progress of the index to store.
    pub(super) fn begin_removal(&self) -> Indexed {
        let progress = self.index.hasten();
        self.index.note_stored(progress);
        progress.into()
    }

    /// Records that the alarm has fired: removes the retry times that have passed, so that these debts may be paid now.
    pub(super) fn note_alarm(&self, now: UnixMillis) {
        for ledger in self.all() {
            ledger.note_alarm(now);
        }
    }

    /// True if the follower has not reached the generation that it has to reach.
    pub(super) fn is_owed<D: Debt>(&self, life: &Life, webhooks: &Webhooks) -> bool {
        D::ledger(self).owes(D::wanted(life, webhooks))
    }

    /// The unpaid debts, for the alarm.
    pub(super) fn owed(&self, life: &Life, webhooks: &Webhooks) -> [Option<Owed>; DEBTS] {
        [
            self.owed_of::<Index>(life, webhooks),
            self.owed_of::<Sums>(life, webhooks),
            self.owed_of::<Troubles>(life, webhooks),
        ]
    }

    fn owed_of<D: Debt>(&self, life: &Life, webhooks: &Webhooks) -> Option<Owed> {
        let retry = D::ledger(self).retry_at();
        self.is_owed::<D>(life, webhooks).then_some(Owed { retry })
    }

    /// Waits until no debt is being paid.
    pub(super) async fn until_rest(&self) {
        for ledger in self.all() {
            ledger.until_rest().await;
        }
    }

    /// True if a statement to a follower is under way, or will be soon. The platform sends it when the rows written before it are
    /// durable, and the future that pays keeps the object until it is answered.
    pub(super) fn are_being_paid(&self) -> bool {
        self.all().iter().any(|ledger| ledger.is_paying())
    }

    fn all(&self) -> [&Ledger; DEBTS] {
        [&self.index, &self.sums, &self.troubles]
    }
}

/// Begins to pay a debt, unless it is being paid already or waits for a retry.
pub(super) fn pay<D: Debt>(session: &TaskSession) {
    // Reading the clock is a call to JavaScript: only for a task with this debt.
    if !session.owes::<D>() || session.health.is_broken() || !D::may_begin(&session.journal) {
        return;
    }
    let wanted = D::wanted(&session.life, &session.webhooks);
    if let Some(handle) = session.handle()
        && D::ledger(&session.debts).begin(wanted, session.now())
    {
        session.ports.runtime.spawn(Box::pin(pay_all::<D>(handle)));
    }
}

/// As [`pay`], for all debts.
pub(super) fn pay_every(session: &TaskSession) {
    pay::<Index>(session);
    pay::<Sums>(session);
    pay::<Troubles>(session);
}

/// Pays a debt at once, also if an attempt has failed before, and waits until it is paid or has failed again.
pub(super) async fn pay_now<D: Debt>(session: &TaskSession) {
    if session.owes::<D>() {
        let ledger = D::ledger(&session.debts);
        ledger.hasten();
        pay::<D>(session);
        ledger.until_rest().await;
    }
}

/// Waits until the present debt is paid, for `INDEX_WAIT_MS` at most. Does not wait while the debt waits for a retry.
pub(super) async fn until_paid<D: Debt>(session: &TaskSession) {
    if session.owes::<D>() {
        let wanted = D::wanted(&session.life, &session.webhooks);
        let ledger = D::ledger(&session.debts);
        // A statement that was sent just now is late when this wait is over: its timer is that of the wait.
        let has_timer = ledger.was_just_sent(session.now());
        let limit = || session.ports.clock.sleep(session.limits.index_wait_ms);
        ledger.until_paid(wanted, (!has_timer).then(limit)).await;
    }
}

/// Pays until nothing is owed, or a statement fails.
async fn pay_all<D: Debt>(session: Rc<TaskSession>) {
    let ledger = D::ledger(&session.debts);
    let clock = session.ports.clock.as_ref();
    let late_ms = session.limits.index_wait_ms;
    while let Some(Statement { part, result }) = D::next(&session).await {
        let timed = if D::IS_TIMED { begin_timed(&session) } else { None };
        ledger.note_sent(session.now());
        let late = || ledger.note_late();
        let result = within_limit_unless_late(clock, result, late_ms, &late).await;
        end_timed(&session, timed, result.is_err());
        match &result {
            Ok(()) => {
                ledger.note_paid(D::reached(&part));
                D::note_paid(&session, &part);
            }
            Err(reason) => {
                let (failures, retry_ms) = ledger.note_failed(session.now());
                let failure = Failure { failures, retry_ms, reason };
                session.observe(&D::failed(&session.id, &part, failure));
            }
        }
        store_progress::<D>(&session);
        if result.is_err() {
            break;
        }
    }
    ledger.end();
    if D::ANNOUNCES {
        session.announce();
    }
    // The alarm is needed for an unpaid debt.
    session.arm();
}

/// A statement that is sent now. `None` if durations are not used.
fn begin_timed(session: &TaskSession) -> Option<TimedWork> {
    session.outside.timing().begin(None).map(TimedWork::in_request)
}

/// Reports a statement that has succeeded or failed.
fn end_timed(session: &TaskSession, timed: Option<TimedWork>, has_failed: bool) {
    let Some(timed) = timed else { return };
    let (task, at) = (&session.id, &session.outside.timing().end(timed));
    session.observe(&Observation::IndexWritten { task, has_failed, at });
}

/// Stores the progress of the follower, if storage has another value.
pub(super) fn store_progress<D: Debt>(session: &TaskSession) {
    let ledger = D::ledger(&session.debts);
    let Some(progress) = ledger.unstored().filter(|_| !session.health.is_broken()) else { return };
    match D::store(session.store.as_ref(), progress) {
        Ok(()) => ledger.note_stored(progress),
        Err(error) => session.note_unstored(&error),
    }
}
