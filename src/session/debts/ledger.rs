//! The account of one debt: the generation that the follower has reached, a flag for a future that is paying, and the time of the
//! next attempt after a failure.

use std::cell::Cell;

use futures_util::future::LocalBoxFuture;

use crate::session::attempt::retry_delay_ms;
use crate::session::bell::Bell;
use a2a::model::UnixMillis;

/// The progress of a follower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct Progress {
    /// The generation (or turn) that the follower has reached; 0 for none.
    pub(super) reached: u64,
    /// The number of attempts that have failed since the follower reached that generation.
    pub(super) failures: u32,
}

/// The account of one debt.
pub(in crate::session) struct Ledger {
    /// The progress in memory.
    known: Cell<Progress>,
    /// The progress in storage.
    stored: Cell<Progress>,
    /// True while a future of this session is paying.
    is_paying: Cell<bool>,
    /// The instant at which the newest statement was sent.
    sent_at: Cell<Option<UnixMillis>>,
    /// True if that statement is not answered in the time that an answer waits for it.
    is_late: Cell<bool>,
    retry_at: Cell<Option<UnixMillis>>,
    /// Rings after each paid part, and at the end of paying.
    paid: Bell,
}

impl Ledger {
    /// The account with the stored progress.
    pub(super) fn new(progress: impl Into<Progress>) -> Self {
        let progress = progress.into();
        let (known, stored) = (Cell::new(progress), Cell::new(progress));
        let (is_paying, is_late) = (Cell::new(false), Cell::new(false));
        let (sent_at, retry_at) = (Cell::new(None), Cell::new(None));
        Self { known, stored, is_paying, sent_at, is_late, retry_at, paid: Bell::default() }
    }

    /// Records the progress that storage has.
    pub(super) fn note_stored(&self, stored: impl Into<Progress>) {
        self.stored.set(stored.into());
    }

    /// The generation that the follower is known to have reached.
    pub(super) fn reached(&self) -> u64 {
        self.known.get().reached
    }

    /// True if the follower has not reached `wanted`.
    pub(super) fn owes(&self, wanted: u64) -> bool {
        self.reached() < wanted
    }

    /// The time of the next attempt, if paying has failed.
    pub(super) fn retry_at(&self) -> Option<UnixMillis> {
        self.retry_at.get()
    }

    /// Forgets earlier failures, so that paying may begin at once. Returns the progress.
    pub(super) fn hasten(&self) -> Progress {
        let progress = Progress { failures: 0, ..self.known.get() };
        self.known.set(progress);
        self.retry_at.set(None);
        progress
    }

    /// Clears a retry that is due, because the alarm has fired.
    pub(super) fn note_alarm(&self, now: UnixMillis) {
        if self.retry_at.get().is_some_and(|at| at <= now) {
            self.retry_at.set(None);
        }
    }

    /// Returns true if the caller has to begin paying: the follower has not reached `wanted`, no future is paying, and no retry
    /// is set for later. In that case, the account counts as being paid.
    pub(super) fn begin(&self, wanted: u64, now: UnixMillis) -> bool {
        let is_later = self.retry_at.get().is_some_and(|at| at > now);
        self.owes(wanted) && !is_later && !self.is_paying.replace(true)
    }

    /// True while a future of this session is paying.
    pub(super) fn is_paying(&self) -> bool {
        self.is_paying.get()
    }

    /// Records that a statement is sent.
    pub(super) fn note_sent(&self, now: UnixMillis) {
        self.sent_at.set(Some(now));
        self.is_late.set(false);
    }

    /// True if the newest statement was sent just now: the timer of the statement is then near enough for a wait that begins now.
    pub(super) fn was_just_sent(&self, now: UnixMillis) -> bool {
        self.sent_at.get().is_some_and(|sent_at| now.millis_since(sent_at) <= JUST_NOW_MS)
    }

    /// Records that the newest statement is not answered in the time that an answer waits for it.
    pub(super) fn note_late(&self) {
        self.is_late.set(true);
        self.paid.ring();
    }

    /// Records that paying has ended.
    pub(super) fn end(&self) {
        self.is_paying.set(false);
        self.paid.ring();
    }

    /// Records that the follower has reached this generation.
    pub(super) fn note_paid(&self, reached: u64) {
        self.known.set(Progress { reached, failures: 0 });
        self.paid.ring();
    }

    /// Records that paying has failed; returns the number of failures, and the time before the next attempt in milliseconds.
    pub(super) fn note_failed(&self, now: UnixMillis) -> (u32, u64) {
        let known = self.known.get();
        let failures = known.failures.saturating_add(1);
        let retry_ms = retry_delay_ms(failures);
        self.known.set(Progress { failures, ..known });
        self.retry_at.set(Some(now.after(retry_ms)));
        (failures, retry_ms)
    }

    /// The known progress, if storage has another value.
    pub(super) fn unstored(&self) -> Option<Progress> {
        let known = self.known.get();
        (known != self.stored.get()).then_some(known)
    }

    /// Waits until the follower has reached `wanted`, no future is paying, or `limit` completes; without a limit, until a statement
    /// is late.
    pub(super) async fn until_paid(&self, wanted: u64, limit: Option<LocalBoxFuture<'static, ()>>) {
        let is_over = |is_late| !self.owes(wanted) || !self.is_paying.get() || is_late;
        match limit {
            Some(limit) => self.paid.until(&|| is_over(false), limit).await,
            None => self.paid.until(&|| is_over(self.is_late.get()), never()).await,
        };
    }

    /// Waits until no future is paying.
    pub(super) async fn until_rest(&self) {
        self.paid.until(&|| !self.is_paying.get(), never()).await;
    }
}

/// How much sooner a wait may end that has the timer of a statement, in milliseconds. The clock may advance between the two in one
/// turn of the event loop.
const JUST_NOW_MS: u64 = 20;

fn never() -> LocalBoxFuture<'static, ()> {
    Box::pin(std::future::pending())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(reached: u64, failures: u32) -> Progress {
        Progress { reached, failures }
    }

    #[test]
    fn one_pays_at_a_time_and_only_what_is_owed() {
        let debt = Ledger::new(progress(2, 0));
        let now = UnixMillis(0);
        assert!(!debt.begin(2, now), "nothing is owed");
        assert!(debt.begin(3, now));
        assert!(!debt.begin(4, now), "somebody pays");
        debt.note_paid(3);
        assert_eq!(debt.unstored(), Some(progress(3, 0)));
        debt.end();
        assert!(!debt.owes(3) && debt.owes(4));
    }

    #[test]
    fn progress_that_storage_said_in_advance_is_not_stored_again() {
        let debt = Ledger::new(Progress::default());
        debt.note_stored(progress(3, 0));
        assert!(debt.owes(3), "it is not true yet");
        assert_eq!(debt.unstored(), Some(Progress::default()), "what to take it back by");
        debt.note_paid(3);
        assert_eq!(debt.unstored(), None);
        debt.note_paid(4);
        assert_eq!(debt.unstored(), Some(progress(4, 0)));
    }

    #[test]
    fn after_a_failure_nobody_pays_until_the_alarm_of_its_retry() {
        let debt = Ledger::new(progress(0, 1));
        assert!(debt.begin(1, UnixMillis(0)));
        assert_eq!(debt.note_failed(UnixMillis(0)), (2, 2_000));
        debt.end();
        assert!(!debt.begin(1, UnixMillis(1_999)));
        debt.note_alarm(UnixMillis(1_999));
        assert_eq!(debt.retry_at(), Some(UnixMillis(2_000)), "another alarm, too early");
        debt.note_alarm(UnixMillis(2_000));
        assert_eq!(debt.retry_at(), None);
        assert!(debt.begin(1, UnixMillis(2_000)));
    }
}
