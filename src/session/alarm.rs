//! The one alarm of a task: the deadlines for which it is set, and the work when it fires.

use std::cell::{Cell, RefCell};

use super::TaskSession;
use super::debts::{self, Index, Sums};
use super::deletion::{self, Deletion};
use super::notifications;
use super::run::{hook, parking};
use crate::task::{Armed, Deadlines, Park, RunStart, Wants};
use a2a::model::UnixMillis;

/// The alarm of one task.
pub(super) struct Alarm {
    deadlines: RefCell<Deadlines>,
    /// True if the alarm has opened the session and `wake` was not called yet.
    is_opened_by_it: Cell<bool>,
}

impl Alarm {
    /// An alarm that may be set.
    pub(super) fn unknown() -> Self {
        Self::new(Armed::Unknown, false)
    }

    /// An alarm that is not set.
    pub(super) fn unset() -> Self {
        Self::new(Armed::No, false)
    }

    /// An alarm that has fired and opens the session: it is not set, and `wake` is called next.
    pub(super) fn fired() -> Self {
        Self::new(Armed::No, true)
    }

    fn new(armed: Armed, is_opened_by_it: bool) -> Self {
        let deadlines = RefCell::new(Deadlines::new(armed));
        Self { deadlines, is_opened_by_it: Cell::new(is_opened_by_it) }
    }

    /// Records the instant for which the platform has the alarm set, or that it is not set.
    fn note_found(&self, at: Option<UnixMillis>) {
        self.deadlines.borrow_mut().learn(at);
    }

    /// Records that the alarm has fired and is not set any more.
    fn note_fired(&self) {
        if !self.is_opened_by_it.take() {
            self.deadlines.borrow_mut().disarm();
        }
    }

    /// Updates the deadlines. Returns the instant for which the alarm has to be set now, if the alarm is set for another instant
    /// or not set.
    fn follow(&self, wants: &Wants, keep_alive_ms: u64, now: UnixMillis) -> Option<UnixMillis> {
        self.deadlines.borrow_mut().update(wants, keep_alive_ms, now)
    }
}

/// Reads from the platform whether the alarm is set, if the task has debts or webhooks or its run is parked. The alarm is set
/// unless the platform has lost it, so the session does not wait for this check. Without this check, each opening would set
/// the alarm for a later instant, and the alarm of a task that is opened often would never fire.
pub(super) fn check(session: &TaskSession) {
    let owes = session.owes::<Index>() || session.owes::<Sums>();
    if !owes && session.webhooks.is_empty() && !session.life.is_parked() {
        return;
    }
    if let Some(session) = session.handle() {
        let runtime = session.ports.runtime.clone();
        runtime.clone().spawn(Box::pin(async move {
            session.alarm.note_found(runtime.alarm().await);
            arm(&session);
        }));
    }
}

/// Sets the alarm for the earliest deadline of the task, if it is not set for that instant already. An unannounced task has
/// no alarm.
pub(super) fn arm(session: &TaskSession) {
    if session.is_broken() || session.unannounced.is_on() {
        return;
    }
    let now = session.now();
    // A guaranteed call of the hook `cancel` is checked at the same interval as a run.
    let telling = hook::is_owed(session).then(|| now.after(session.limits.keep_alive_ms));
    let debts = session.debts.owed(&session.life, &session.webhooks);
    let is_listed = !session.owes::<Index>();
    let of_deleted = session.life.with_tombstone(|remains| Wants {
        debts,
        // While the row is owed, the debt rings.
        keep_until: is_listed.then(|| session.retention.remains_until(remains)),
        ..Wants::default()
    });
    let of_task = session.life.with_live(|facts, machine| {
        let parked = machine.parked();
        let run = machine.run().filter(|_| machine.needs_run());
        let looks = session.webhooks.looks(machine, now);
        Wants {
            run_until: run.map(RunStart::deadline).or(telling),
            parked_until: parked.map(Park::until),
            debts,
            webhook_look: looks.look,
            webhook_retry: looks.retry,
            keep_until: session.retention.alarm(&facts.agent, machine, is_listed),
        }
    });
    let keep_alive_ms = session.limits.keep_alive_ms;
    let set =
        of_task.or(of_deleted).and_then(|wants| session.alarm.follow(&wants, keep_alive_ms, now));
    if let Some(at) = set {
        session.ports.runtime.set_alarm(at);
    }
}

/// Handles the alarm: does all work that is due, waits for its end, and sets the next alarm.
pub(super) async fn wake(session: &TaskSession) {
    session.alarm.note_fired();
    // A failure is retried: a broken session is opened again; if the agent cannot run, the next alarm retries.
    let _ = parking::wake_if_due(session);
    hook::call_if_owed(session);
    session.debts.note_alarm(session.now());
    debts::pay_every(session);
    notifications::enqueue_due(session);
    // Wait for the background work: if the object dies meanwhile, the platform fires the alarm again.
    session.debts.until_rest().await;
    let keep_until = session
        .life
        .with_live(|facts, machine| session.retention.keep_until(&facts.agent, machine));
    if keep_until.flatten().is_some_and(|until| until <= session.now()) {
        session.expire(Deletion::Whole).await;
    }
    deletion::empty_if_due(session).await;
    arm(session);
}
