//! The owner check as a type: what the operations may do with a task, for the caller to whom it belongs.

mod webhooks;

use std::rc::Rc;

use super::debts::{self, Index, Sums};
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
    TaskState, UnixMillis,
};
use a2a::{ShownTask, Terms};

/// A task, or a send that may become one, of the caller who asks.
///
/// [`TaskSession::owned_by`] gives it for a task that exists, after the one owner check that there is, and
/// [`TaskSession::operated_by`] to an operator. Within the
/// crate a send that begins a task, or repeats the one that began it, gives it to its sender.
#[derive(Clone, Copy)]
pub struct Owned<'a> {
    pub(super) session: &'a TaskSession,
    is_operators: bool,
}

impl<'a> Owned<'a> {
    /// For `TaskSession` alone, which has checked the caller.
    pub(super) fn new(session: &'a TaskSession) -> Self {
        Self { session, is_operators: false }
    }

    /// For `TaskSession` alone: the task of any owner, for an operator.
    pub(super) fn for_operator(session: &'a TaskSession) -> Self {
        Self { session, is_operators: true }
    }

    /// Whether it is an operator who asks, to whom the secrets of the owner are not shown.
    pub(crate) fn is_operators(self) -> bool {
        self.is_operators
    }

    /// The id of the task, whether it exists yet or not.
    pub fn id(self) -> &'a TaskId {
        self.session.id()
    }

    /// Whether the task is this caller's.
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

    /// Whether clients can see the task.
    pub(crate) fn exists(self) -> bool {
        self.session.life.exists()
    }

    /// Whether the task has ended.
    pub(crate) fn is_over(self) -> bool {
        self.session.life.is_over()
    }

    /// Whether a blocking send has nothing to wait for any more.
    pub(crate) fn is_settled(self) -> bool {
        self.session.life.is_settled()
    }

    /// Whether its run is parked: it waits outside of memory.
    pub fn is_parked(self) -> bool {
        self.session.life.is_parked()
    }

    /// Whether its run is parked for longer than this from now on: until then nothing happens by itself.
    pub(crate) fn is_parked_for(self, millis: u64) -> bool {
        let until = self.session.life.with_machine(|machine| machine.parked().map(Park::until));
        until.flatten().is_some_and(|until| until > self.session.now().after(millis))
    }

    /// The message that was given instead of a task.
    pub(crate) fn replied(self) -> Option<Message> {
        self.session.life.replied()
    }

    /// Whether storage failed, so that nothing more will happen in this session.
    pub(crate) fn is_broken(self) -> bool {
        self.session.health.is_broken()
    }

    /// How many times what clients waited for was lost in this session.
    pub(crate) fn crashes(self) -> u64 {
        self.session.health.crashes()
    }

    /// The limits of this deployment.
    pub(crate) fn limits(self) -> &'a Limits {
        &self.session.limits
    }

    /// The error for a failure on our side, with the id of the task if the task exists.
    pub(crate) fn internal(self) -> Error {
        self.session.internal()
    }

    /// The task as 1.0 JSON, if it exists. The text of a task that is not large is kept, and all answers share the text until the
    /// task changes.
    pub fn task_json(self, history: HistoryLimit) -> Option<Rc<String>> {
        // What the run said since it was last stored is stored first.
        self.session.flush().ok()?;
        self.session.life.json(history, None)
    }

    /// The task as it stands, for an answer on these terms.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it does not exist, or storage fails.
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

    /// Waits until the condition holds, `limit_ms` milliseconds at most. It is looked at after each change.
    pub(crate) async fn until(self, condition: &dyn Fn() -> bool, limit_ms: u64) {
        let limit = self.session.ports.clock.sleep(limit_ms);
        self.session.bell.until(condition, limit).await;
    }

    /// Waits until listing shows the task as it stands now, and what its turns have used is counted: for `INDEX_WAIT_MS` at
    /// most each, and not at all for an index that is known to be down.
    pub async fn until_indexed(self) {
        debts::until_paid::<Index>(self.session).await;
        debts::until_paid::<Sums>(self.session).await;
    }

    /// The caller is about to get an answer: the task has the alarm that it wants from here on.
    pub(crate) fn announce(self) {
        self.session.announce();
    }

    /// The caller asked for the task: its run may wait for that.
    pub(crate) fn note_poll(self) {
        self.session.run.note_poll();
        self.session.bell.ring();
    }

    /// How often callers have asked for the task since its run began.
    pub fn polls(self) -> u64 {
        self.session.polls()
    }

    /// Whether the task is at the generation that the caller expects, if it expects any.
    ///
    /// # Errors
    ///
    /// [`Error::GenerationMismatch`] otherwise.
    pub(crate) fn check_generation(self, expected: Option<u64>) -> Result<(), Error> {
        let generation = self.generation().0;
        match expected {
            Some(expected) if expected != generation => {
                Err(Error::GenerationMismatch { id: self.id().clone(), expected, generation })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the task takes one more message.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] if it is full.
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

    /// Whether the task has received this very message before.
    pub(crate) fn has_received(self, message: &Message) -> bool {
        self.session.life.with_machine(|machine| machine.has_received(message)).unwrap_or(false)
    }

    /// Gives the task one more message, and with it a webhook that gets what follows. A message that it has
    /// received before changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::TaskFinished`] if the task has ended, [`Error::UnsupportedOperation`] if it has reached the limit of webhooks,
    /// [`Error::InvalidParams`] if the message is of another context, or holds credentials that the task does not wait
    /// for: nothing has changed then.
    /// [`Error::Internal`] if the agent is not served any more, or storage fails.
    pub(crate) fn receive(
        self,
        message: Message,
        metadata: Option<Metadata>,
        webhook: Option<TaskPushNotificationConfig>,
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

    /// Stores what the run has said so far, so that the generation is that of the newest event.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(crate) fn settle_generation(self) -> Result<Generation, Error> {
        self.session.flush().map_err(|_| self.internal())?;
        Ok(self.generation())
    }

    /// Starts the run that a message has begun, if it has begun one. Its first poll is part of this call.
    pub(crate) fn start_run(self) {
        run::start(self.session);
    }

    /// As [`start_run`](Self::start_run), but not before the caller waits for something.
    pub(crate) fn start_run_soon(self) {
        run::start_soon(self.session);
    }

    /// Cancels the task. Canceling a canceled one again changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotCancelable`] if it has ended otherwise; [`Error::Internal`] if storage fails.
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
            // A task that waits for its client has no run that would notice.
            hook::call_if_owed(session);
        }
        if let Some(facts) = session.life.facts() {
            let (agent, task) = (facts.agent.as_str(), self.id());
            session.observe(&Observation::TaskCanceled { agent, task });
        }
        Ok(())
    }

    /// The stored lines of the log in one direction from a row, as many as fit one page, and whether there are more.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(crate) fn log_lines(self, range: LogRange) -> Result<(Vec<LoggedBatch>, bool), Error> {
        self.session.journal.lines(range).map_err(|error| self.reading_failed(&error))
    }

    /// The error for a log that could not be read, which operators are told.
    pub(crate) fn reading_failed(self, error: &StoreError) -> Error {
        self.session.reading_failed(error)
    }

    /// The steps that are under way, if a run is.
    pub(crate) fn open_steps(self) -> Vec<OpenStep> {
        let session = self.session;
        let needs_run = session.life.with_machine(TaskMachine::needs_run).unwrap_or(false);
        if needs_run { session.run.open_steps() } else { Vec::new() }
    }

    /// What its turns have used of models.
    pub(crate) fn usage(self) -> TaskUsage {
        let usage = |machine: &TaskMachine| machine.usage().clone();
        self.session.life.with_machine(usage).unwrap_or_default()
    }

    /// How many of its steps have failed.
    pub(crate) fn failed_steps(self) -> u64 {
        self.session.life.with_machine(TaskMachine::failed_steps).unwrap_or_default()
    }

    /// The agent that has the task, and whose it is.
    pub(crate) fn facts(self) -> Option<TaskFacts> {
        self.session.life.facts()
    }

    /// When the task was created, if that is known.
    pub(crate) fn created(self) -> Option<UnixMillis> {
        self.session.life.with_machine(TaskMachine::created).flatten()
    }

    /// For a follower that has seen everything so far: no frames.
    pub(crate) fn begin_live(self) -> Beginning {
        Beginning::live(&self.session.life)
    }

    /// The message that was given instead of a task, for a follower.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it cannot be encoded.
    pub(crate) fn begin_with_message(self, message: &Message) -> Result<Beginning, Error> {
        let json = serde_json::to_string(message).map_err(|_| self.internal())?;
        Ok(Beginning::message(&json))
    }

    /// The task as it stands, for a follower that has no position yet.
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

    /// What came after a generation, as much as fits one page, for a follower that has this position.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if there is no such generation yet; [`Error::Internal`] when storage fails.
    pub(crate) fn begin_with_missed(self, after: Generation) -> Result<Beginning, Error> {
        check_position(after, self.generation())?;
        // The frames are made of stored rows.
        self.settle_generation()?;
        let TaskSession { life, journal, .. } = self.session;
        Beginning::missed(life, journal, after).map_err(|error| self.reading_failed(&error))
    }

    /// Reports to the observer that the agent is given the newest message of the client.
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
