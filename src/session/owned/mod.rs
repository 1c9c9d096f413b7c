//! The owner check as a type: only the owner of a task, or an operator, gets an [`Owned`], which has the operations on the task.

mod webhooks;

use std::rc::Rc;

use super::debts::{self, Index, Sums};
use super::deletion;
use super::journal::statuses;
use super::run::held::{self, LetOut};
use super::run::{self, hook};
use super::{Beginning, LoggedBatch, OpenStep, Sender, TaskSession, check_position};
use crate::auth::Caller;
use crate::config::Limits;
use crate::executor::RunTask;
use crate::port::{LogRange, Observation, StoreError, TaskFacts};
use crate::task::{Park, Refusal, TaskMachine};
use crate::usage::TaskUsage;
use a2a::error::Error;
use a2a::model::{
    Generation, HistoryLimit, Message, Metadata, Role, Task, TaskId, TaskPushNotificationConfig,
    TaskState, UnixMillis, to_json,
};
use a2a::{ShownTask, Terms};
use a2a_agents::{RunSettings, Trace};

/// What the file of a task's agent says of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceTerms {
    /// What is kept of steps.
    pub(crate) level: Trace,
    /// True if the owner is shown what steps were given and what they came to.
    pub(crate) is_for_owners: bool,
    /// True if there is no more room for what steps were given.
    pub(crate) is_full: bool,
}

/// The task of a caller, or the send of a caller that may begin a task.
///
/// [`TaskSession::owned_by`] has the only owner check and returns an `Owned` for a task that exists. [`TaskSession::operated_by`]
/// returns an `Owned` to an operator. Within the crate, the sender also gets an `Owned` for a send that begins a task or repeats
/// the send that began the task.
#[derive(Clone, Copy)]
pub struct Owned<'a> {
    pub(super) session: &'a TaskSession,
    is_operators: bool,
}

impl<'a> Owned<'a> {
    /// Only `TaskSession` calls this, after checking the caller.
    pub(super) fn new(session: &'a TaskSession) -> Self {
        Self { session, is_operators: false }
    }

    /// Only `TaskSession` calls this: an operator gets the task of any owner.
    pub(super) fn for_operator(session: &'a TaskSession) -> Self {
        Self { session, is_operators: true }
    }

    /// True if the caller is an operator. Operators cannot see the secrets of the owner.
    pub(crate) fn is_operators(self) -> bool {
        self.is_operators
    }

    /// The id of the task, also before the task exists.
    pub fn id(self) -> &'a TaskId {
        self.session.id()
    }

    /// True if this caller owns the task.
    pub(crate) fn is_owned_by(self, caller: &Caller) -> bool {
        self.session.life.facts().is_some_and(|facts| facts.owner == caller.owner())
    }

    /// Reads the task, if it exists.
    pub fn with_task<T>(self, read: impl FnOnce(&Task) -> T) -> Option<T> {
        self.session.life.with_task(read)
    }

    /// The state of the task, if it exists.
    pub(crate) fn state(self) -> Option<TaskState> {
        self.session.life.state()
    }

    /// The generation of the newest event; 0 while there is no task.
    pub fn generation(self) -> Generation {
        self.session.life.generation()
    }

    /// True if clients can see the task.
    pub(crate) fn exists(self) -> bool {
        self.session.life.exists()
    }

    /// True if the task has ended.
    pub(crate) fn is_over(self) -> bool {
        self.session.life.is_over()
    }

    /// True if a blocking send can be answered: the task has ended or waits for its client.
    pub(crate) fn is_settled(self) -> bool {
        self.session.life.is_settled()
    }

    /// True if the run of the task is parked: the run waits outside of memory.
    pub fn is_parked(self) -> bool {
        self.session.life.is_parked()
    }

    /// True if the run of the task is parked and its wait ends more than `millis` milliseconds from now. Without a request, the
    /// task does not change before that.
    pub(crate) fn is_parked_for(self, millis: u64) -> bool {
        let until = self.session.life.with_machine(|machine| machine.parked().map(Park::until));
        until.flatten().is_some_and(|until| until > self.session.now().after(millis))
    }

    /// The message with which the run answered instead of a task.
    pub(crate) fn replied(self) -> Option<Message> {
        self.session.life.replied()
    }

    /// True if storage has failed: this session makes no more progress.
    pub(crate) fn is_broken(self) -> bool {
        self.session.health.is_broken()
    }

    /// The number of crashes in this session that lost a result for which clients waited.
    pub(crate) fn crashes(self) -> u64 {
        self.session.health.crashes()
    }

    /// The limits of this deployment.
    pub(crate) fn limits(self) -> &'a Limits {
        &self.session.limits
    }

    /// The error for a failure of the server, with the id of the task if the task exists.
    pub(crate) fn internal(self) -> Error {
        self.session.internal()
    }

    /// The task as 1.0 JSON, if it exists. The JSON of a task up to `LARGE_BYTES` is cached: all answers share the text until the
    /// task changes.
    pub fn task_json(self, history: HistoryLimit) -> Option<Rc<String>> {
        // The answer must not show unsaved events, so store them first.
        self.session.flush().ok()?;
        self.session.life.json(history, None)
    }

    /// The present task, for an answer on these terms.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the task does not exist, or storage fails.
    pub(crate) fn shown(self, history: HistoryLimit, terms: Terms) -> Result<ShownTask, Error> {
        // Events that are not stored yet are stored first.
        let generation = self.settle_generation()?;
        let session = self.session;
        let json = session.life.json(history, terms.shows_generation.then_some(generation));
        let json = json.ok_or_else(|| self.internal())?;
        let created = self.created();
        let statuses = if terms.shows_statuses {
            let read = statuses::read(&session.journal, history);
            read.map_err(|error| self.reading_failed(&error))?
        } else {
            Vec::new()
        };
        Ok(ShownTask { json, generation: generation.0, created, statuses })
    }

    /// Waits until the condition is true, `limit_ms` milliseconds at most. The condition is evaluated after each change of the
    /// task.
    pub(crate) async fn until(self, condition: &dyn Fn() -> bool, limit_ms: u64) {
        let limit = self.session.ports.clock.sleep(limit_ms);
        self.session.bell.until(condition, limit).await;
    }

    /// Waits until the index shows the present task, then until the use of models by its turns is counted. Each of the two waits
    /// takes `INDEX_WAIT_MS` at most. There is no wait for a failed statement that is retried later.
    pub async fn until_indexed(self) {
        debts::until_paid::<Index>(self.session).await;
        debts::until_paid::<Sums>(self.session).await;
    }

    /// Announces the task, because the caller is about to get an answer: from now on the alarm of the task is set.
    pub(crate) fn announce(self) {
        self.session.announce();
    }

    /// Counts a read of the task by a client. Wakes the run, which may wait for a read.
    pub(crate) fn note_poll(self) {
        self.session.run.note_poll();
        self.session.bell.ring();
    }

    /// The number of times clients have read the task since its run began.
    pub fn polls(self) -> u64 {
        self.session.polls()
    }

    /// Checks that the task is at the expected generation, if the caller expects one.
    ///
    /// # Errors
    ///
    /// [`Error::GenerationMismatch`] if the task is at another generation.
    pub(crate) fn check_generation(self, expected: Option<u64>) -> Result<(), Error> {
        let generation = self.generation().0;
        match expected {
            Some(expected) if expected != generation => {
                Err(Error::GenerationMismatch { id: self.id().clone(), expected, generation })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that the task is below its limits of messages and of size.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] if the task has reached one of these limits.
    pub(crate) fn check_room(self) -> Result<(), Error> {
        let is_from_user = |message: &&Message| message.role == Role::User;
        let length = self.with_task(|task| task.history.iter().filter(is_from_user).count());
        let max_history = self.limits().max_history;
        let full = if length.unwrap_or(0) >= max_history {
            format!("has taken {max_history} messages")
        } else if let Some(size) = self.session.journal.fullness() {
            format!("has grown to {size}")
        } else {
            return Ok(());
        };
        let hint = format!("the task {full}, which is the limit; begin a new task");
        Err(Error::UnsupportedOperation(hint))
    }

    /// True if the task has received the same message before.
    pub(crate) fn has_received(self, message: &Message) -> bool {
        self.session.life.with_machine(|machine| machine.has_received(message)).unwrap_or(false)
    }

    /// Adds a message to the task, and registers the webhook, which gets the events from this message on. A message that the task
    /// has received before changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::TaskFinished`] if the task has ended, [`Error::UnsupportedOperation`] if the task has reached the limit of
    /// webhooks, [`Error::InvalidParams`] if the message is of another context, or has credentials for which the task does not
    /// wait. After these three errors the task is unchanged. [`Error::Internal`] if this Worker does not have the agent any more,
    /// or storage fails.
    pub(crate) fn receive(
        self,
        message: Message,
        metadata: Option<Metadata>,
        webhook: Option<TaskPushNotificationConfig<Option<TaskId>>>,
        sender: Sender,
    ) -> Result<(), Error> {
        let session = self.session;
        let webhook = webhook.map(|webhook| self.named(webhook, sender.dialect));
        if let Some(webhook) = &webhook {
            session.webhooks.check_room(&webhook.id)?;
        }
        let limits =
            session.agents.limits(&session.life, &session.limits).ok_or_else(|| self.internal())?;
        let (agent, dialect, before) = (sender.agent.clone(), sender.dialect, self.generation());
        let by = webhook.is_some().then(|| sender.clone());
        let sent = sender.credentials.clone().filter(|_| !self.has_received(&message));
        let taken = sent.map(|sent| sent.taken(self.state())).transpose()?.flatten();
        let request = sender.request(&limits, metadata);
        let received = session.change(|machine, now| machine.receive(message, request, now));
        if received.map_err(refused)? {
            if let Some(sealed) = taken {
                session.credentials.put(sealed).map_err(|error| {
                    session.give_up(&error);
                    self.internal()
                })?;
            }
            if let Some(webhook) = webhook {
                let webhook = self.register(webhook, dialect, before)?;
                if let Some(sender) = &by {
                    self.note_registered(&webhook.id, sender);
                }
            }
            self.note_newest_message(&agent);
        }
        session.flush().map_err(|_| self.internal())
    }

    /// Stores the unsaved events. Returns the generation of the newest event.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if storage fails.
    pub(crate) fn settle_generation(self) -> Result<Generation, Error> {
        self.session.flush().map_err(|_| self.internal())?;
        Ok(self.generation())
    }

    /// Starts the run that a message has begun, if there is one. The first poll of the run is part of this call.
    pub(crate) fn start_run(self) {
        run::start(self.session);
    }

    /// As [`start_run`](Self::start_run), but the run is first polled after the caller has yielded.
    pub(crate) fn start_run_soon(self) {
        run::start_soon(self.session);
    }

    /// Cancels the task. Canceling a canceled task again changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotCancelable`] if the task has ended in another state; [`Error::Internal`] if storage fails.
    pub(crate) fn cancel(self) -> Result<(), Error> {
        let session = self.session;
        let has_run = |machine: &TaskMachine| machine.is_running() || machine.parked().is_some();
        let has_run = session.life.with_machine(has_run).unwrap_or(false);
        held::let_out(session, LetOut::All);
        let not_cancelable = |state| Error::TaskNotCancelable { id: self.id().clone(), state };
        let is_first = session.change(TaskMachine::cancel).map_err(not_cancelable)?;
        session.flush().map_err(|_| self.internal())?;
        if has_run && is_first {
            hook::call(session);
        } else {
            // A task that waits for its client has no run: call the hook only if the executor requires a guaranteed call.
            hook::call_if_owed(session);
        }
        if let Some(facts) = session.life.facts() {
            let (agent, task) = (facts.agent.as_str(), self.id());
            session.observe(&Observation::TaskCanceled { agent, task });
        }
        Ok(())
    }

    /// Deletes the task, which has ended. Its row in the index is being removed; see
    /// [`TaskSession::until_unlisted`].
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the use of models could not be counted, or storage fails. The task is whole then.
    pub(crate) async fn delete(self) -> Result<(), Error> {
        deletion::bury(self.session).await
    }

    /// The stored lines of the log in one direction from a row, up to one page. The second value is true if there are more lines.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if storage fails.
    pub(crate) fn log_lines(self, range: LogRange) -> Result<(Vec<LoggedBatch>, bool), Error> {
        self.session.journal.lines(range).map_err(|error| self.reading_failed(&error))
    }

    /// Reports to the observer that the log could not be read, and returns the error for the client.
    pub(crate) fn reading_failed(self, error: &StoreError) -> Error {
        self.session.reading_failed(error)
    }

    /// The steps begun and not ended, if the task has a run.
    pub(crate) fn open_steps(self) -> Vec<OpenStep> {
        let session = self.session;
        let needs_run = session.life.with_machine(TaskMachine::needs_run).unwrap_or(false);
        if needs_run { session.run.open_steps() } else { Vec::new() }
    }

    /// What the file of the task's agent says of traces.
    pub(crate) fn trace(self) -> TraceTerms {
        let RunSettings { trace, trace_for_owners, .. } =
            self.session.agents.settings(&self.session.life);
        let level = trace.unwrap_or(Trace::Names);
        let is_full = level == Trace::Full && self.session.journal.traced.is_full();
        TraceTerms { level, is_for_owners: trace_for_owners, is_full }
    }

    /// The use of models by the turns of the task.
    pub(crate) fn usage(self) -> TaskUsage {
        let usage = |machine: &TaskMachine| machine.usage().clone();
        self.session.life.with_machine(usage).unwrap_or_default()
    }

    /// The number of failed steps of the task.
    pub(crate) fn failed_steps(self) -> u64 {
        self.session.life.with_machine(TaskMachine::failed_steps).unwrap_or_default()
    }

    /// The facts of the task: its agent, its owner, and the fingerprint of its first message.
    pub(crate) fn facts(self) -> Option<TaskFacts> {
        self.session.life.facts()
    }

    /// The instant at which the task was created, if that instant is known.
    pub(crate) fn created(self) -> Option<UnixMillis> {
        self.session.life.with_machine(TaskMachine::created).flatten()
    }

    /// For a follower that has every event: no frames.
    pub(crate) fn begin_live(self) -> Beginning {
        Beginning::live(&self.session.life)
    }

    /// For a follower of a send without a task: the message with which the run answered.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the message cannot be encoded.
    pub(crate) fn begin_with_message(self, message: &Message) -> Result<Beginning, Error> {
        let json = to_json(message).map_err(|_| self.internal())?;
        Ok(Beginning::message(&json))
    }

    /// For a follower without a position: the present task.
    ///
    /// # Errors
    ///
    /// As [`shown`](Self::shown).
    pub(crate) fn begin_with_snapshot(
        self,
        history: HistoryLimit,
        terms: Terms,
    ) -> Result<Beginning, Error> {
        let task = self.shown(history, terms)?;
        let state = self.state().ok_or_else(|| self.internal())?;
        Ok(Beginning::snapshot(&task, state))
    }

    /// For a follower with a position: the stored events after the generation of that position, up to one page.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the task has not reached this generation; [`Error::Internal`] if storage fails.
    pub(crate) fn begin_with_missed(self, after: Generation) -> Result<Beginning, Error> {
        check_position(after, self.generation())?;
        // The frames are made of stored rows.
        self.settle_generation()?;
        let TaskSession { life, journal, .. } = self.session;
        Beginning::missed(life, journal, after).map_err(|error| self.reading_failed(&error))
    }

    /// Reports to the observer that the agent gets the newest message of the client.
    fn note_newest_message(self, agent: &str) {
        self.with_task(|task| {
            let newest = task.history.iter().rfind(|message| message.role == Role::User);
            if let Some(message) = newest {
                let task = self.id();
                self.session.observe(&Observation::MessageReceived { agent, task, message });
            }
        });
    }
}

/// The error for a client whose message the task refuses.
fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Finished(state) => Error::TaskFinished(state),
        Refusal::OtherContext { expected } => Error::invalid(
            "message.contextId",
            format!("must be the context of the task, {expected}, or be left out"),
        ),
    }
}
