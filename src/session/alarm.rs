//! The one alarm of a task: what it is set for, and what happens when it fires.

use std::cell::{Cell, RefCell};

use super::debts::{self, Index, Sums};
use super::retention::Deletion;
use super::run::{hook, parking};
use super::webhooks::notifications;
use super::{Opening, TaskSession};
use crate::task::{Armed, Deadlines, Park, RunStart, Wants};
use a2a::model::UnixMillis;

/// The alarm of one task.
pub(super) struct Alarm {
    deadlines: RefCell<Deadlines>,
    /// Whether the session was opened by an alarm that `wake` has not taken note of.
    is_opened_by_it: Cell<bool>,
}

impl Alarm {
    /// The alarm as far as it is known from what opened the session.
    pub(super) fn new(opening: Opening) -> Self {
        let armed = match opening {
            Opening::ByRequest => Armed::Unknown,
            Opening::ByAlarm | Opening::New => Armed::No,
        };
        let deadlines = RefCell::new(Deadlines::new(armed));
        Self { deadlines, is_opened_by_it: Cell::new(opening == Opening::ByAlarm) }
    }

    /// It was found to be set for this instant, or for none.
    fn note_found(&self, at: Option<UnixMillis>) {
        self.deadlines.borrow_mut().learn(at);
    }

    /// It has fired, and is not set any more.
    fn note_fired(&self) {
        if !self.is_opened_by_it.take() {
            self.deadlines.borrow_mut().disarm();
        }
    }

    /// Follows what the task wants; gives the instant for which the alarm must be set now, if it must.
    fn follow(&self, wants: &Wants, keep_alive_ms: u64, now: UnixMillis) -> Option<UnixMillis> {
        self.deadlines.borrow_mut().update(wants, keep_alive_ms, now)
    }
}

/// Looks whether the alarm is set, if the task owes something or its run is parked. It is, unless the platform has lost it, so nobody waits
/// for this; and it is not set again without need, or it would never ring for a task that is opened often.
pub(super) fn check(session: &TaskSession) {
    let owes = debts::is_owed::<Index>(session) || debts::is_owed::<Sums>(session);
    if !owes && session.webhooks.is_empty() && !session.is_parked() {
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

/// Sets the alarm for what the task must be woken for next, if it is not set for that already. An unannounced task has
/// no alarm.
pub(super) fn arm(session: &TaskSession) {
    if session.is_broken() || session.unannounced.is_on() {
        return;
    }
    let now = session.now();
    // Looked after like a run.
    let telling = hook::is_owed(session).then(|| now.after(session.limits.keep_alive_ms));
    let debts = debts::owed(session);
    let is_listed = !debts::is_owed::<Index>(session);
    let wants = session.life.with_machine(|machine| {
        let parked = machine.parked();
        let run = machine.run().filter(|_| machine.needs_run());
        let looks = session.webhooks.looks(machine, now);
        Wants {
            run_until: run.map(RunStart::deadline).or(telling),
            parked_until: parked.map(Park::until),
            debts,
            webhook_look: looks.look,
            webhook_retry: looks.retry,
            keep_until: session.retention.alarm(machine, is_listed),
        }
    });
    let keep_alive_ms = session.limits.keep_alive_ms;
    let set = wants.and_then(|wants| session.alarm.follow(&wants, keep_alive_ms, now));
    if let Some(at) = set {
        session.ports.runtime.set_alarm(at);
    }
}

/// The alarm has fired: does what is due, waits for it, and sets the next one.
pub(super) async fn wake(session: &TaskSession) {
    session.alarm.note_fired();
    // What fails is tried again: a session that is broken is opened anew, and one whose agent cannot run is looked after.
    let _ = parking::wake_if_due(session);
    hook::call_if_owed(session);
    session.debts.note_alarm(session.now());
    debts::pay_every(session);
    notifications::enqueue_due(session);
    // Waited for, so that the platform fires the alarm again if the object dies meanwhile.
    session.debts.until_rest().await;
    let keep_until = session.life.with_machine(|machine| session.retention.keep_until(machine));
    if keep_until.flatten().is_some_and(|until| until <= session.now()) {
        session.delete(Deletion::Whole).await;
    }
    arm(session);
}
