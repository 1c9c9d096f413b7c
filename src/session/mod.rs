//! One task in memory.
//!
//! A session is made of parts, and each owns its cells:
//!
//! | part | what it owns |
//! |---|---|
//! | `life` | the task machine, or what there is instead of a task |
//! | `journal` | the log: what of it is stored, its size, how often rows are written |
//! | `held` | the secrets of the run under way, and what of its text may be the beginning of one |
//! | `run_state` | the run under way: what it may take, what it repeats, whether it is to stop |
//! | `index` | how far the index has followed |
//! | `usage` | up to which turn what was used of models is counted |
//! | `troubles` | whether the list of webhooks in trouble follows |
//! | `webhooks` | what clients registered, and what each of it is owed |
//! | `credentials` | what a client gave the turn under way, sealed |
//! | `retention` | when the finished task is deleted |
//! | `alarm` | for when the alarm is set |
//! | `bell` | who waits for a change |
//! | `unannounced` | whether nobody outside knows of the task yet |
//! | `health` | whether the session is still true to its storage |
//! | `tracing` | the trace of the run under way, which its requests belong to |
//! | `connections` | how many of its requests wait for answers at a time |
//!
//! [`TaskSession`] puts them together; `run`, `index`, `usage` and `notifications` hold what goes on in the
//! background. Operations of clients get no further than [`Owned`], which is the owner check.

mod alarm;
mod bell;
mod callbacks;
mod connections;
mod credentials;
mod debt;
mod follower;
pub mod frame;
mod health;
mod held;
mod hook;
mod ids;
mod index;
mod index_row;
mod journal;
mod life;
mod logged;
mod notifications;
mod opening;
mod owned;
mod parking;
mod passages;
mod past;
mod registration;
mod retention;
mod run;
mod run_state;
mod sender;
mod statuses;
mod times;
mod tracing;
mod troubles;
mod turn_host;
mod unannounced;
mod usage;
mod visitor;
mod webhook;
mod webhooks;

use std::rc::{Rc, Weak};

use crate::auth::{Caller, not_for_operators};
use crate::config::Limits;
use crate::executor::Runner;
use crate::port::{Act, Audit, FirstRow, Observation, Ports, StoreError, TaskStore};
use crate::push::{NextNotification, NotificationTurn};
use crate::task::{Effect, Input, LogEntry, NewTask, RunRequest, RunStart, TaskError, TaskMachine};
use crate::trail::Trail;
use a2a::error::Error;
use a2a::model::{
    ContextId, HistoryLimit, Message, Metadata, Part, TaskId, TaskPushNotificationConfig,
    UnixMillis,
};
use a2a::{Operation, ShownTask, Terms};
use alarm::Alarm;
use bell::Bell;
use credentials::Credentials;
use debt::Debt;
use health::Health;
use held::Held;
use journal::Journal;
use life::Life;
use retention::Retention;
use run::RunLimits;
use run_state::RunState;
use tracing::Tracing;
use unannounced::Unannounced;
use webhooks::Webhooks;

pub(crate) use unannounced::Announcement;

pub use callbacks::Posted;
pub use credentials::SentCredentials;
pub use follower::{Beginning, Next};
pub use ids::Ids;
pub use logged::{LoggedBatch, LoggedLine};
pub use opening::{NoAgent, OpenError, Opening};
pub use owned::Owned;
pub use retention::Deletion;
pub use run_state::OpenStep;
pub use sender::Sender;
pub use visitor::Visitor;

pub(crate) use callbacks::{callback_is_busy, no_callback};
pub(crate) use follower::check_position;

/// Finds the agent that answers for a task, by its slug.
pub type FindAgent = Rc<dyn Fn(&str) -> Result<Runner, NoAgent>>;

/// One task in memory.
///
/// Everything that changes the task is synchronous: the machine decides, the entries collect in the journal, and
/// `flush` stores them before anybody else can run. So nobody ever sees what is not
/// stored, and two requests never interleave within a change.
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
    index: Debt,
    usage: Debt,
    troubles: Debt,
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
    /// The id of the task, whether it exists yet or not.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The id of the object that holds the task: what no other task has, whoever its caller is.
    fn object(&self) -> &str {
        &self.object
    }

    /// Whether a client has chosen the id of the task.
    fn has_chosen_id(&self) -> bool {
        self.id.as_str() != self.object
    }

    /// The id of the task, if a client has chosen it and the task exists: what a message means that names no task.
    pub(crate) fn chosen_task(&self) -> Option<&TaskId> {
        Some(&self.id).filter(|_| self.has_chosen_id() && self.life.exists())
    }

    /// The one owner check: the task exists, and is this agent's and this caller's. Nothing happens to the task before.
    /// `trail` tells operators which request it was that is denied.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotFound`] otherwise, whatever the reason.
    pub fn owned_by(
        &self,
        agent: &str,
        caller: &Caller,
        trail: &Trail,
    ) -> Result<Owned<'_>, Error> {
        if let Some(facts) = self.life.facts().filter(|_| self.life.exists()) {
            let visitor = Visitor::Caller(agent, caller, trail);
            if visitor.may_see(&facts) {
                self.announce();
                return Ok(Owned::new(self));
            }
            visitor.note_denied(&self.id, self.ports.observer.as_ref());
        }
        Err(Error::TaskNotFound(self.id.clone()))
    }

    /// The task of any caller, for one that was found to be an operator of this agent. Operators are
    /// told of the operation, also if there is no such task.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotFound`] if the agent has no such task; [`Error::PermissionDenied`] for an operation that is the
    /// owner's alone.
    pub fn operated_by(
        &self,
        agent: &str,
        operator: &Caller,
        operation: Operation,
        trail: &Trail,
    ) -> Result<Owned<'_>, Error> {
        let acted = Audit::of(Act::OperatorActed, agent, &operator.id, trail).on(&self.id);
        self.observe(&Observation::Audited(acted.by(operation)));
        if !operation.is_for_operators() {
            return Err(not_for_operators());
        }
        let facts = self.life.facts().filter(|_| self.life.exists());
        if facts.is_some_and(|facts| Visitor::Operator(agent).may_see(&facts)) {
            self.announce();
            return Ok(Owned::for_operator(self));
        }
        Err(Error::TaskNotFound(self.id.clone()))
    }

    /// What the send that began this session has come to, if it was the same as this one, under the same key;
    /// none if nothing has begun.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the key was used for another message.
    pub(crate) fn repeated(&self, sender: &Sender) -> Result<Option<Owned<'_>>, Error> {
        let Some(facts) = self.life.facts() else { return Ok(None) };
        self.announce();
        sender.check_repetition(&facts)?;
        Ok(Some(Owned::new(self)))
    }

    /// Begins a new task with its first message. Nothing is stored before the executor says something
    /// or the grace is over; a task whose id its client has chosen exists at once, since the client will ask for it by that id
    /// whatever the executor says. Where the task is announced by the answer, [`Owned::announce`] goes before that.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if there is no such agent, [`Error::UnsupportedOperation`] if a task takes no webhook:
    /// nothing has begun then.
    pub(crate) fn begin(
        &self,
        message: Message,
        metadata: Option<Metadata>,
        webhook: Option<TaskPushNotificationConfig>,
        sender: Sender,
        announcement: Announcement,
    ) -> Result<Owned<'_>, Error> {
        let runner = (self.agents)(&sender.agent).map_err(|_| Error::Internal { task: None })?;
        let owned = Owned::new(self);
        // All that may fail comes before the draft.
        self.webhooks.clear();
        if let Some(webhook) = webhook {
            let webhook = owned.register(webhook, sender.dialect, 0)?;
            self.note_registered(&webhook.id, &sender);
        }
        let (agent, task) = (sender.agent.as_str(), &self.id);
        self.observe(&Observation::MessageReceived { agent, task, message: &message });
        let context_id = message.context_id.clone();
        let joins_context = context_id.is_some();
        let context_id = context_id.unwrap_or_else(|| ContextId::new(self.ports.random.new_id()));
        // The run sees its message as it will be in the history, on its first attempt as on any other.
        let message = Message {
            task_id: Some(self.id.clone()),
            context_id: Some(context_id.clone()),
            ..message
        };
        let begun = self.now();
        let facts = sender.facts();
        let request = sender.request(&RunLimits::of(&runner, &self.limits), metadata.clone());
        let request = RunRequest { joins_context, ..request };
        let start = RunStart {
            attempt: 1,
            resumes: false,
            message: 1,
            begun_ms: begun.0,
            request: request.clone(),
        };
        let new = NewTask {
            id: self.id.clone(),
            context_id,
            message: message.clone(),
            metadata,
            request,
            begun,
        };
        // A send that may be repeated is remembered from its first row on, and webhooks are owed its events.
        // The client can ask for a task whose id it has chosen.
        let has_chosen_id = self.has_chosen_id();
        let is_known = facts.fingerprint.is_some() || !self.webhooks.is_empty() || has_chosen_id;
        // An answer that does not wait for the index would have to correct the first row.
        let waits = self.limits.index_wait_ms > 0;
        if announcement == Announcement::ByTheAnswer && waits && !is_known {
            self.unannounced.begin();
        }
        self.life.draft(facts, new);
        run::begin(self, message, start);
        if has_chosen_id {
            self.create();
        }
        Ok(owned)
    }

    /// Whether storage failed, so that this session is no longer true to it and must be opened anew.
    pub fn is_broken(&self) -> bool {
        self.health.is_broken()
    }

    /// Whether an object that is asked for a task by this id, which its client chose, has to be asked by a new session: this
    /// one has no task, and would begin one of another id.
    pub fn is_unfit_for(&self, chosen: &TaskId) -> bool {
        self.id != *chosen && self.life.facts().is_none()
    }

    /// Whether the session is better opened again when it is needed than kept: it takes much memory, its task
    /// has ended, and nothing about it is left to do.
    pub fn is_dispensable(&self) -> bool {
        self.journal.is_large()
            && self.journal.unsaved_bytes() == 0
            && self.webhooks.is_empty()
            && self.life.is_over()
            && !self.index.owes(self.life.status_generation())
            && !usage::is_owed(self)
            && !troubles::is_owed(self)
    }

    /// Whether the run of the task waits outside of memory.
    fn is_parked(&self) -> bool {
        parking::is_parked(self)
    }

    /// The alarm has fired: does what is due, waits for it, and sets the next one.
    pub async fn wake(&self) {
        alarm::wake(self).await;
    }

    /// Deletes a finished task, and says whether it is gone. What fails is
    /// tried again later; a task that is not finished stays. If there is no task, its row in the index is deleted
    /// all the same.
    pub async fn delete(&self, deletion: Deletion) -> bool {
        self.announce();
        retention::delete(self, deletion).await
    }

    /// Takes what the consumer of the queue reports, and gives it the next notification of its webhook, if there
    /// is one and no other consumer has the lease.
    pub fn next_notification(&self, asked: NextNotification) -> NotificationTurn {
        self.announce();
        notifications::next_notification(self, asked)
    }

    /// Takes what was posted to a callback of this token, which is the permission, for a task of this agent. `key` is
    /// what its sender calls it: what is repeated under it counts once.
    pub fn call_back(&self, agent: &str, token: &str, key: Option<String>, body: Part) -> Posted {
        callbacks::call(self, agent, token, key, body)
    }

    /// What would become of such a post, before its body is there. Writes nothing.
    pub fn takes_call(&self, agent: &str, token: &str, key: Option<&str>) -> Posted {
        callbacks::admit(self, agent, token, key)
            .map_or_else(|refused| refused, |_| Posted::Accepted)
    }

    /// Applies an input to the task and carries the effects out, except for storing: that is
    /// [`flush`](Self::flush). Says whether it had any effect.
    ///
    /// # Errors
    ///
    /// Why the machine refuses.
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

    /// Stores what has collected, as one row, and lets everybody know who waits for it.
    ///
    /// # Errors
    ///
    /// When storage fails: the session is broken then, and its run is told to stop.
    fn flush(&self) -> Result<(), StoreError> {
        if self.is_broken() {
            return Err(StoreError::Failed("the session is broken".to_owned()));
        }
        if self.journal.unsaved_bytes() == 0 {
            return Ok(());
        }
        // Store first, webhooks that came with the message included: whatever follows shows the task, and nobody
        // may see what a crash could undo.
        let facts = self.life.facts();
        let indexed = unannounced::first_progress(self);
        let opening = facts.as_ref().map(|facts| FirstRow { facts, indexed });
        let is_first = !self.journal.is_opened();
        let stored = self.journal.store(self.life.generation(), opening, self.now());
        let stored = stored.and_then(|batch| self.webhooks.store_new().map(|()| batch));
        let batch = stored.inspect_err(|error| self.give_up(error))?;
        if is_first {
            self.index.note_stored(indexed);
        }
        // Publish before anybody is woken: the next row must not overtake the frames of this one.
        self.ports.followers.publish(&|| frame::events(&batch, 0), self.life.is_over());
        self.bell.ring();
        // All read what is stored now, and begin work in the background that the alarm looks after.
        index::project(self);
        usage::count(self);
        notifications::enqueue_due(self);
        credentials::forget_if_over(self);
        // Arm last, when all that is owed is known, and in the same synchronous stretch as the row: a crash
        // finds both or neither.
        self.arm();
        Ok(())
    }

    /// How long to postpone storing, in milliseconds; 0 = store now. Always 0 once the task is settled.
    fn postpone_ms(&self) -> u64 {
        if self.life.is_settled() { 0 } else { self.journal.postpone_ms(self.now()) }
    }

    /// Makes the task exist, if there is a draft of it.
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

    /// A message came with a webhook, which is registered.
    fn note_registered(&self, webhook: &str, sender: &Sender) {
        let Sender { agent, caller, trail, .. } = sender;
        let registered = Audit::of(Act::WebhookRegistered, agent, &caller.id, trail);
        self.observe(&Observation::Audited(registered.on(&self.id).with_webhook(webhook)));
    }

    /// Somebody outside of the object is about to learn of the task, or its run has begun to wait for something.
    fn announce(&self) {
        unannounced::announce(self);
    }

    /// Storage has failed: the session is not true to it any more.
    fn give_up(&self, error: &StoreError) {
        let reason = error.to_string();
        self.observe(&Observation::StoringFailed { task: &self.id, reason: &reason });
        self.health.break_down();
        self.health.note_crash();
        self.run.stop();
        self.bell.ring();
    }

    /// Sets the alarm for what the task must be woken for next, if it is not set for that already.
    fn arm(&self) {
        alarm::arm(self);
    }

    /// The agent of the task; `None` if this Worker does not have it any more.
    fn runner(&self) -> Option<Runner> {
        self.life.facts().and_then(|facts| (self.agents)(&facts.agent).ok())
    }

    /// Whether a run of the task can begin, or the task ends because its agent is gone for good.
    fn check_agent(&self) -> Result<(), OpenError> {
        let Some(facts) = self.life.facts() else { return Ok(()) };
        match (self.agents)(&facts.agent) {
            Err(NoAgent::Unusable) => Err(OpenError::AgentUnusable(facts.agent)),
            Ok(_) | Err(NoAgent::Missing) => Ok(()),
        }
    }

    /// What bounds the runs of the task; `None` if this Worker does not have its agent any more.
    fn run_limits(&self) -> Option<RunLimits> {
        self.runner().map(|runner| RunLimits::of(&runner, &self.limits))
    }

    /// The task as it stands, for an answer on these terms. What its run said since it was last stored is stored
    /// first.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it does not exist, or storage fails.
    fn shown(&self, history: HistoryLimit, terms: Terms) -> Result<ShownTask, Error> {
        self.flush().map_err(|_| self.internal())?;
        let generation = self.life.generation();
        let json = self.life.json(history, terms.shows_generation.then_some(generation));
        let json = json.ok_or_else(|| self.internal())?;
        let created = self.life.with_machine(TaskMachine::created).flatten();
        let statuses = match terms.shows_statuses {
            true => statuses::read(self, history)?,
            false => Vec::new(),
        };
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

    /// A handle on this session for work in the background; none while the session is dropped.
    fn handle(&self) -> Option<Rc<Self>> {
        self.handle.upgrade()
    }
}
