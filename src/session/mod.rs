//! One task in memory.
//!
//! A session is made of parts, and each owns its cells:
//!
//! | part | what it owns |
//! |---|---|
//! | `life` | the task machine, or the stage without a task |
//! | `journal/` | the log: the entries not stored yet, its size, the interval between rows |
//! | `run/` | the present run: its inputs, its recall of earlier attempts, its secrets, its trace, its connections |
//! | `debts/` | the generations up to which the index, the sums of usage and the list of webhooks in trouble are written |
//! | `webhooks/` | the registered webhooks, and the notifications owed to each |
//! | `followers/` | nothing: the frames for those who follow the task |
//! | `credentials` | the encrypted credentials of the present turn |
//! | `retention` | when the finished task is deleted |
//! | `alarm` | the instant for which the alarm is set |
//! | `bell` | the waiters for a change |
//! | `unannounced` | whether the task is unknown outside of its object |
//! | `health` | whether memory may differ from storage |
//!
//! [`TaskSession`] combines the parts. `opening` makes a session, and `doors` has its public methods. Operations of clients get an
//! [`Owned`], which is the result of the owner check.

mod alarm;
mod bell;
mod credentials;
mod debts;
mod doors;
mod followers;
mod health;
mod ids;
mod journal;
mod life;
mod opening;
mod owned;
mod retention;
mod run;
mod sender;
mod unannounced;
mod visitor;
mod webhooks;

use std::rc::{Rc, Weak};

use crate::config::Limits;
use crate::executor::Runner;
use crate::port::{Act, Audit, FirstRow, Observation, Ports, StoreError, TaskStore};
use crate::task::{Effect, Input, LogEntry, RunRequest, TaskError, TaskMachine};
use a2a::error::Error;
use a2a::model::{HistoryLimit, TaskId, UnixMillis};
use a2a::{ShownTask, Terms};
use alarm::Alarm;
use bell::Bell;
use credentials::Credentials;
use debts::{Debts, Index, Sums};
use health::Health;
use journal::{Journal, statuses};
use life::Life;
use retention::Retention;
use run::RunLimits;
use run::held::Held;
use run::state::RunState;
use run::tracing::Tracing;
use unannounced::Unannounced;
use webhooks::{Webhooks, notifications};

pub(crate) use unannounced::Announcement;

pub use credentials::SentCredentials;
pub use followers::{Beginning, Next, frame};
pub use ids::Ids;
pub use journal::{LoggedBatch, LoggedLine};
pub use opening::{NoAgent, OpenError, Opening};
pub use owned::Owned;
pub use retention::Deletion;
pub use run::callbacks::Posted;
pub use run::state::OpenStep;
pub use sender::Sender;
pub use visitor::Visitor;

pub(crate) use followers::check_position;
pub(crate) use run::callbacks::{callback_is_busy, no_callback};

/// Finds the agent that answers for a task, by its slug.
pub type FindAgent = Rc<dyn Fn(&str) -> Result<Runner, NoAgent>>;

/// One task in memory.
///
/// Each change of the task is synchronous: the machine decides, the entries are collected in the journal, and `flush` stores them before
/// another future runs. So no client sees what is not stored, and two requests never interleave within a change.
pub struct TaskSession {
    id: TaskId,
    /// The id of its object.
    object: String,
    store: Rc<dyn TaskStore>,
    ports: Ports,
    limits: Limits,
    agents: FindAgent,
    life: Life,
    journal: Journal,
    run: RunState,
    held: Held,
    debts: Debts,
    webhooks: Webhooks,
    credentials: Credentials,
    retention: Retention,
    unannounced: Unannounced,
    alarm: Alarm,
    bell: Bell,
    health: Health,
    tracing: Tracing,
    handle: Weak<Self>,
}

impl TaskSession {
    /// The id of the task's object: unique among the tasks of all callers.
    fn object(&self) -> &str {
        &self.object
    }

    /// Whether a client has chosen the id of the task.
    fn has_chosen_id(&self) -> bool {
        self.id.as_str() != self.object
    }

    /// Whether the run of the task waits outside of memory.
    fn is_parked(&self) -> bool {
        run::parking::is_parked(self)
    }

    /// Applies an input to the task and carries out the effects, except for storing, which [`flush`](Self::flush) does. Returns whether there
    /// was an effect.
    ///
    /// # Errors
    ///
    /// If the task machine refuses the input.
    fn step(&self, input: Input) -> Result<bool, TaskError> {
        let now = self.now();
        let effects = self.life.step(input, now)?;
        let is_effective = !effects.is_empty();
        for effect in effects {
            match effect {
                Effect::Append(entry) => self.journal.append(&entry, now),
                Effect::Run(message) => {
                    let start = self.life.with_machine(|machine| machine.run().cloned());
                    if let Some(start) = start.flatten() {
                        run::begin(self, message, start);
                    }
                }
                Effect::Offer(message) => self.run.offer(message),
                Effect::Call(call) => self.run.note_call(call),
                Effect::Stop => self.run.stop(),
            }
        }
        Ok(is_effective)
    }

    /// Stores the collected entries as one row, publishes them to followers, and wakes waiters.
    ///
    /// # Errors
    ///
    /// When storage fails: the session is broken then, and its run is stopped.
    fn flush(&self) -> Result<(), StoreError> {
        if self.is_broken() {
            return Err(StoreError::Failed("the session is broken".to_owned()));
        }
        if self.journal.unsaved_bytes() == 0 {
            return Ok(());
        }
        // Store first, including webhooks that arrived with the message: the rest shows the task, and no client may see what a crash could
        // undo.
        let facts = self.life.facts();
        let indexed = unannounced::first_progress(self);
        let opening = facts.as_ref().map(|facts| FirstRow { facts, indexed });
        let is_first = !self.journal.is_opened();
        let stored = self.journal.store(self.life.generation(), opening, self.now());
        let stored = stored.and_then(|batch| self.webhooks.store_new().map(|()| batch));
        let batch = stored.inspect_err(|error| self.give_up(error))?;
        if is_first {
            self.debts.note_indexed_in_advance(indexed);
        }
        // Publish before waking waiters: the next row must not overtake the frames of this row.
        self.ports.followers.publish(&|| frame::events(&batch, 0), self.life.is_over());
        self.bell.ring();
        // Each of these reads what is stored now and begins background work, which the alarm repeats after a crash.
        debts::pay::<Index>(self);
        debts::pay::<Sums>(self);
        notifications::enqueue_due(self);
        credentials::forget_if_over(self);
        // Arm last, when all debts are known, and in the same synchronous stretch as the row: after a crash, storage has the row and the
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

    /// Writes the audit line for a webhook that was registered with a message.
    fn note_registered(&self, webhook: &str, sender: &Sender) {
        let Sender { agent, caller, trail, .. } = sender;
        let registered = Audit::of(Act::WebhookRegistered, agent, &caller.id, trail);
        self.observe(&Observation::Audited(registered.on(&self.id).with_webhook(webhook)));
    }

    /// Announces the task: it is about to become known outside of the object, or its run has begun to wait.
    fn announce(&self) {
        unannounced::announce(self);
    }

    /// Marks the session as broken after a failure of storage, and stops its run.
    fn give_up(&self, error: &StoreError) {
        let reason = error.to_string();
        self.observe(&Observation::StoringFailed { task: &self.id, reason: &reason });
        self.health.break_down();
        self.health.note_crash();
        self.run.stop();
        self.bell.ring();
    }

    /// Sets the alarm for the earliest deadline of the task, if it is not set for that instant already.
    fn arm(&self) {
        alarm::arm(self);
    }

    /// The agent of the task; `None` if this Worker does not have it any more.
    fn runner(&self) -> Option<Runner> {
        self.life.facts().and_then(|facts| (self.agents)(&facts.agent).ok())
    }

    /// Refuses if the agent's executor could not be made. A missing agent is no error: the task then fails.
    fn check_agent(&self) -> Result<(), OpenError> {
        let Some(facts) = self.life.facts() else { return Ok(()) };
        match (self.agents)(&facts.agent) {
            Err(NoAgent::Unusable) => Err(OpenError::AgentUnusable(facts.agent)),
            Ok(_) | Err(NoAgent::Missing) => Ok(()),
        }
    }

    /// The limits of the task's runs; `None` if this Worker does not have its agent any more.
    fn run_limits(&self) -> Option<RunLimits> {
        self.runner().map(|runner| RunLimits::of(&runner, &self.limits))
    }

    /// The present task, for an answer on these terms. Events that are not stored yet are stored first.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the task does not exist, or storage fails.
    fn shown(&self, history: HistoryLimit, terms: Terms) -> Result<ShownTask, Error> {
        self.flush().map_err(|_| self.internal())?;
        let generation = self.life.generation();
        let json = self.life.json(history, terms.shows_generation.then_some(generation));
        let json = json.ok_or_else(|| self.internal())?;
        let created = self.life.with_machine(TaskMachine::created).flatten();
        let statuses =
            if terms.shows_statuses { statuses::read(self, history)? } else { Vec::new() };
        Ok(ShownTask { json, generation, created, statuses })
    }

    /// The error for a failure on our side, with the task if clients can know it.
    fn internal(&self) -> Error {
        Error::Internal { task: self.life.exists().then(|| self.id.clone()) }
    }

    fn observe(&self, observation: &Observation<'_>) {
        self.ports.observer.observe(observation);
    }

    fn now(&self) -> UnixMillis {
        self.ports.clock.now()
    }

    /// A handle on this session for background work; none while the session is being dropped.
    fn handle(&self) -> Option<Rc<Self>> {
        self.handle.upgrade()
    }
}
