//! One task in memory.
//!
//! A session is made of parts. Each part owns its cells:
//!
//! | part | owned state |
//! |---|---|
//! | `life` | the task machine, or the stage without a task |
//! | `journal/` | the log: the entries not stored yet, its size, the interval between rows |
//! | `agents` | nothing: finds the agent of the task, and the limits of its runs |
//! | `run/` | the present run: its inputs, its recall of earlier attempts, its secrets; its outside: its trace, its connections |
//! | `debts/` | the generations up to which the index, the sums of usage and the list of webhooks in trouble are written |
//! | `webhooks/` | the registered webhooks, and the progress of each |
//! | `followers/` | nothing: the frames for those who follow the task |
//! | `credentials` | the encrypted credentials of the present turn |
//! | `retention` | the time at which the finished task, or what remains of a deleted one, is deleted |
//! | `alarm` | the instant for which the alarm is set |
//! | `bell` | the waiters for a change |
//! | `place` | the place in the quotas of the caller, until the index has the row |
//! | `unannounced` | a flag: nothing outside of the object has the id of the task |
//! | `health` | a flag: memory may differ from storage; the number of crashes |
//!
//! [`TaskSession`] combines the parts. A part does not use the session, only the parts on which it depends. Code that changes
//! several parts at once gets the session, for `TaskSession::step` and `TaskSession::flush`: a run, the payment of a debt,
//! `notifications`, the alarm, a deletion. `opening` makes a session, and `doors` has its public methods. Operations of clients
//! get an [`Owned`], which is the result of the owner check.

mod agents;
mod alarm;
mod attempt;
mod bell;
mod credentials;
mod debts;
mod deletion;
mod doors;
mod followers;
mod health;
mod ids;
mod journal;
mod life;
mod notifications;
mod open_error;
mod opening;
mod owned;
mod place;
mod retention;
mod run;
mod sender;
mod tombstone;
mod unannounced;
mod visitor;
mod webhooks;

use std::convert::Infallible;
use std::rc::{Rc, Weak};

use crate::config::Limits;
use crate::port::{Act, Audit, FirstRow, Observation, Ports, StoreError, TaskStore};
use crate::task::{Effect, Input, LogEntry, Notice, RunRequest, TaskError, TaskMachine};
use a2a::error::Error;
use a2a::model::{Generation, TaskId, UnixMillis};
use agents::Agents;
use alarm::Alarm;
use bell::Bell;
use credentials::Credentials;
use debts::{Debt, Debts, Index, Sums};
use health::Health;
use journal::Journal;
use life::Life;
use place::Place;
use retention::Retention;
use run::outside::Outside;
use run::span::RunKey;
use run::state::RunState;
use unannounced::Unannounced;
use webhooks::Webhooks;

pub(crate) use unannounced::Announcement;

pub use agents::FindAgent;
pub use credentials::SentCredentials;
pub use deletion::Deletion;
pub use followers::{Beginning, Next, frame};
pub use ids::Ids;
pub use journal::{LoggedBatch, LoggedLine};
pub use open_error::{NoAgent, OpenError};
pub use opening::Opening;
pub use owned::Owned;
pub(crate) use owned::TraceTerms;
pub use run::callbacks::Posted;
pub use run::state::OpenStep;
pub use sender::Sender;
pub use visitor::Visitor;

pub(crate) use followers::check_position;
pub(crate) use place::Reserved;
pub(crate) use run::callbacks::{callback_is_busy, no_callback};

/// One task in memory.
///
/// Each change of the task is synchronous: the machine decides, the entries are collected in the journal, and `flush` stores them
/// before another future runs. So no client sees unsaved changes, and two requests never interleave within a change.
pub struct TaskSession {
    id: TaskId,
    /// The id of the task's object.
    object: TaskId,
    store: Rc<dyn TaskStore>,
    ports: Ports,
    limits: Limits,
    agents: Agents,
    life: Life,
    journal: Journal,
    run: RunState,
    outside: Rc<Outside>,
    debts: Debts,
    webhooks: Webhooks,
    credentials: Credentials,
    retention: Retention,
    place: Place,
    unannounced: Unannounced,
    alarm: Alarm,
    bell: Bell,
    health: Health,
    handle: Weak<Self>,
}

impl TaskSession {
    /// The id of the task's object: unique among the tasks of all callers.
    fn object(&self) -> &str {
        self.object.as_str()
    }

    /// Changes the task and carries out the effects, except for storing: the caller must call [`flush`](Self::flush). Returns
    /// true if there was an effect.
    ///
    /// # Errors
    ///
    /// If the task machine refuses the change.
    fn change<E>(
        &self,
        change: impl FnOnce(&mut TaskMachine, UnixMillis) -> Result<Vec<Effect>, E>,
    ) -> Result<bool, E> {
        let now = self.now();
        let before = self.run_before_change();
        let effects = self.life.change(|machine| change(machine, now))?;
        let is_effective = !effects.is_empty();
        for effect in effects {
            match effect {
                Effect::Append(entry) => self.journal.append(&entry, now),
                Effect::Run(message) => {
                    let start = self.life.with_machine(|machine| machine.run().cloned());
                    if let Some(start) = start.flatten() {
                        let before = RunKey::of(&start).before(before);
                        self.run.begin(message, start, now);
                        self.run.note_continued(before);
                    }
                }
                Effect::Offer(message) => self.run.offer(message),
                Effect::Call(call) => self.run.note_call(call),
                Effect::Stop => self.run.stop(),
            }
        }
        Ok(is_effective)
    }

    /// The newest run, for the link of the one that may follow it. `None` if durations are not used.
    fn run_before_change(&self) -> Option<RunKey> {
        if !self.ports.observer.times() {
            return None;
        }
        self.life.with_machine(|machine| machine.run().map(RunKey::of)).flatten()
    }

    /// As [`change`](Self::change), by an input of the run.
    ///
    /// # Errors
    ///
    /// If the task machine refuses the input.
    fn step(&self, input: Input) -> Result<(), TaskError> {
        self.change(|machine, now| machine.step(input, now)).map(|_| ())
    }

    /// As [`change`](Self::change), by a notice, which no task refuses.
    fn note(&self, notice: Notice) {
        let Ok(_) = self.change(|machine, now| Ok::<_, Infallible>(machine.note(notice, now)));
    }

    /// Stores the collected entries as one row, publishes them to followers, and wakes waiters.
    ///
    /// # Errors
    ///
    /// If storage fails. After this error, the session is broken and its run is stopped.
    fn flush(&self) -> Result<(), StoreError> {
        if self.is_broken() {
            return Err(StoreError::Failed("the session is broken".to_owned()));
        }
        if self.journal.unsaved_bytes() == 0 {
            return Ok(());
        }
        // Store first, including webhooks that arrived with the message: the later steps show the task to clients, and no client
        // may see a change that a crash could undo.
        let facts = self.life.facts();
        let indexed = self.unannounced.first_progress(&self.life);
        let opening = facts.as_ref().map(|facts| FirstRow { facts, indexed });
        let is_first = !self.journal.is_opened();
        let stored = self.journal.store(self.life.generation(), opening, self.now());
        let stored = stored.and_then(|batch| self.webhooks.store_new().map(|()| batch));
        let batch = stored.inspect_err(|error| self.give_up(error))?;
        if is_first {
            self.debts.note_indexed_in_advance(indexed);
        }
        // Publish before waking waiters: the next row must not overtake the frames of this row.
        self.ports
            .followers
            .publish(&|| frame::events(&batch, Generation::NONE), self.life.is_over());
        self.bell.ring();
        // Each of these calls reads the stored state and begins work in the background; after a crash, the alarm
        // repeats this work.
        debts::pay::<Index>(self);
        debts::pay::<Sums>(self);
        notifications::enqueue_due(self);
        self.forget_credentials();
        // Arm last, when all debts are known, and without an await after the row was written: after a crash, storage has the row and the
        // alarm, or neither.
        self.arm();
        Ok(())
    }

    /// The delay before storing, in milliseconds; 0 to store now, always for a settled task.
    fn postpone_ms(&self) -> u64 {
        if self.life.is_settled() { 0 } else { self.journal.postpone_ms(self.now()) }
    }

    /// Creates the task from its draft, if there is a draft.
    fn create(&self) {
        let now = self.now();
        let entries = self.life.create(now);
        for entry in &entries {
            self.journal.append(entry, now);
        }
        if let (Some(LogEntry::Run(start)), Some(facts)) = (entries.last(), self.life.facts()) {
            let RunRequest { caller, trail, .. } = &start.request;
            let created = Audit::of(Act::TaskCreated, &facts.agent, &caller.id, trail);
            self.observe(&Observation::Audited(created.on(&self.id)));
        }
    }

    /// Announces the task: it is about to become known outside of the object, or its run has begun to wait. Corrects the stored progress of
    /// the index, and sets the alarm.
    fn announce(&self) {
        if self.unannounced.end() && !self.is_broken() {
            debts::store_progress::<Index>(self);
            self.arm();
        }
    }

    /// True if the follower of this debt has not reached the generation that it has to reach.
    fn owes<D: Debt>(&self) -> bool {
        self.debts.is_owed::<D>(&self.life, &self.webhooks)
    }

    /// Deletes the credentials of a turn that is over.
    fn forget_credentials(&self) {
        let is_over = || self.life.with_machine(TaskMachine::is_turn_over).unwrap_or(true);
        if let Err(error) = self.credentials.forget_if(is_over) {
            self.give_up(&error);
        }
    }

    /// Stores the present state of a webhook. If storing fails, the newest notifications are repeated after a crash.
    fn store_webhook(&self, id: &str) {
        if let Err(error) = self.webhooks.store(id) {
            self.note_unstored(&error);
        }
    }

    /// Marks the session as broken after a failure of storage, and stops its run.
    fn give_up(&self, error: &StoreError) {
        self.note_unstored(error);
        self.health.break_down();
        self.health.note_crash();
        self.run.stop();
        self.bell.ring();
    }

    /// Sets the alarm for the earliest deadline of the task, if it is not set for that instant already.
    fn arm(&self) {
        alarm::arm(self);
    }

    /// The error for a failure of the server, with the id of the task if the task exists. Whoever waits for a task that is deleted
    /// meanwhile learns that.
    fn internal(&self) -> Error {
        if self.life.is_deleted() {
            return Error::TaskNotFound(self.id.clone());
        }
        Error::Internal { task: self.life.exists().then(|| self.id.clone()) }
    }

    /// Reports a failure to store something to the observer.
    fn note_unstored(&self, error: &StoreError) {
        let reason = error.to_string();
        self.observe(&Observation::StoringFailed { task: &self.id, reason: &reason });
    }

    /// Reports to the observer that the log could not be read, and returns the error for the client.
    fn reading_failed(&self, error: &StoreError) -> Error {
        let reason = error.to_string();
        self.observe(&Observation::ReadingFailed { task: &self.id, reason: &reason });
        self.internal()
    }

    fn observe(&self, observation: &Observation<'_>) {
        self.ports.observer.observe(observation);
    }

    fn now(&self) -> UnixMillis {
        self.ports.clock.now()
    }

    /// A handle on this session for background work; `None` while the session is being dropped.
    fn handle(&self) -> Option<Rc<Self>> {
        self.handle.upgrade()
    }
}
