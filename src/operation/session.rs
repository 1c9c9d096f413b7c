//! One task in memory: its machine, what of it is not stored yet, its run, and who waits for it.

mod host;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use futures_util::future::{Either, select};
use tokio::sync::Notify;

use super::frame::{self, Mark};
use super::projection::Projection;
use super::push::Hook;
use super::run::drive;
use super::send_message::Sender;
use crate::auth::Caller;
use crate::config::Limits;
use crate::executor::{Runner, TurnHost};
use crate::port::{Batch, Indexed, Observation, Ports, StoreError, TaskFacts, TaskStore};
use crate::task::{
    Deadlines, Effect, Input, LogEntry, Loss, NewTask, Recall, Recovery, RunOutcome, RunRequest,
    RunStart, TaskError, TaskMachine, Wants,
};
use a2a::error::Error;
use a2a::model::decode::read_json;
use a2a::model::{
    ContextId, HistoryLimit, JsonSize, Message, Metadata, Role, Task, TaskId,
    TaskPushNotificationConfig, TaskView, UnixMillis, encode, encode_line,
};
use a2a::{ShownTask, Terms};

/// Finds the agent that answers for a task, by its slug.
pub type FindAgent = Rc<dyn Fn(&str) -> Option<Runner>>;

/// One task in memory.
///
/// Everything that changes the task is synchronous: the machine decides, the entries collect, and
/// `flush` stores them before anybody else can run. So nobody ever sees what is not
/// stored, and two requests never interleave within a change.
pub struct TaskSession {
    id: TaskId,
    store: Box<dyn TaskStore>,
    ports: Ports,
    limits: Limits,
    agents: FindAgent,
    changed: Notify,
    inner: RefCell<Inner>,
    deadlines: RefCell<Deadlines>,
    polls: Cell<u64>,
    crashes: Cell<u64>,
    is_canceled: Cell<bool>,
    is_broken: Cell<bool>,
    /// When the run last did anything.
    progressed: Cell<UnixMillis>,
    /// Up to when the rows written so far use up what may be written.
    paced_until: Cell<i64>,
    projection: Projection,
    hooks: RefCell<Vec<Hook>>,
    me: std::rc::Weak<Self>,
}

struct Inner {
    phase: Phase,
    facts: Option<TaskFacts>,
    is_stored: bool,
    /// The size of the log, stored or not, in bytes.
    size: usize,
    /// How many JSON values the log holds.
    values: usize,
    unsaved: Batch,
    snapshot: Option<Rc<String>>,
    inbox: VecDeque<Message>,
    /// What earlier attempts of the present run said and did.
    recall: Option<Recall>,
    /// How many steps of each name the present run has begun.
    steps: BTreeMap<String, u32>,
}

/// How far the task has come to be.
#[allow(clippy::large_enum_variant, reason = "a session has one of them, and mostly the largest")]
enum Phase {
    /// There is none.
    Empty,
    /// A run is under way that has not said anything yet.
    Draft(Box<NewTask>),
    /// The run answered with a message instead.
    Replied(Box<Message>),
    /// It exists.
    Live(Box<TaskMachine>),
}

impl TaskSession {
    /// The session of the task with this id, from storage if it is there. A task whose run was lost
    /// goes on, or is brought to an end, as its agent wants it. `alarm` is when the object will be
    /// woken anyway.
    ///
    /// # Errors
    ///
    /// When storage fails.
    pub fn open(
        id: TaskId,
        store: Box<dyn TaskStore>,
        ports: Ports,
        limits: Limits,
        agents: FindAgent,
        alarm: Option<UnixMillis>,
    ) -> Result<Rc<Self>, StoreError> {
        let mut size = 0;
        let mut values = 0;
        let mut log = Vec::new();
        let mut hooks = Vec::new();
        let (phase, facts, indexed) = match store.load()? {
            None => (Phase::Empty, None, Indexed::default()),
            Some(stored) => {
                for batch in &stored.log {
                    size += batch.lines.len();
                    values += JsonSize::of(batch.lines.as_bytes()).values;
                }
                log = entries_of(&id, stored.log)?;
                let hook = |json: &String| {
                    read_json(json).map_err(|error| {
                        StoreError::Unreadable(format!("webhook of {id}: {error}"))
                    })
                };
                hooks = stored.webhooks.iter().map(hook).collect::<Result<_, _>>()?;
                let machine = TaskMachine::replay(log.iter().cloned()).ok_or_else(|| {
                    StoreError::Unreadable(format!("log of {id} does not begin with a task"))
                })?;
                (Phase::Live(Box::new(machine)), Some(stored.facts), stored.indexed)
            }
        };
        let inner = Inner {
            phase,
            is_stored: facts.is_some(),
            facts,
            size,
            values,
            unsaved: Batch::default(),
            snapshot: None,
            inbox: VecDeque::new(),
            recall: None,
            steps: BTreeMap::new(),
        };
        let session = Rc::new_cyclic(|me| Self {
            id,
            store,
            ports,
            limits,
            agents,
            changed: Notify::new(),
            inner: RefCell::new(inner),
            deadlines: RefCell::new(Deadlines::new(alarm)),
            polls: Cell::new(0),
            crashes: Cell::new(0),
            is_canceled: Cell::new(false),
            is_broken: Cell::new(false),
            progressed: Cell::new(UnixMillis(0)),
            paced_until: Cell::new(0),
            projection: Projection::new(indexed),
            hooks: RefCell::new(hooks),
            me: me.clone(),
        });
        if session.with_machine(TaskMachine::is_orphaned).unwrap_or(false) {
            session.recover(Loss::Interrupted, &log);
            session.flush()?;
        }
        session.project();
        // Jobs for the webhooks may be in the queue; if not, the alarm is set for them.
        session.arm();
        Ok(session)
    }

    /// Lets the run that was lost go on, begin again, or end its task, as the agent wants it.
    fn recover(&self, loss: Loss, log: &[LogEntry]) {
        let runner = self.runner();
        if runner.is_none() {
            self.observe(&Observation::AgentMissing { task: &self.id });
        }
        let recovery = runner.as_ref().map_or(Recovery::Fail, Runner::recovery);
        let max_attempts = runner.and_then(|runner| runner.settings.max_attempts);
        let max_attempts = max_attempts.unwrap_or(self.limits.max_attempts);
        self.inner.borrow_mut().recall = Some(Recall::of(log));
        // Losing a run is always legal.
        let _ = self.step(Input::RunLost { loss, recovery, max_attempts });
    }

    /// The agent of the task; `None` if this Worker does not have it any more.
    pub(super) fn runner(&self) -> Option<Runner> {
        let inner = self.inner.borrow();
        inner.facts.as_ref().and_then(|facts| (self.agents)(&facts.agent))
    }

    /// The id of the task, whether it exists yet or not.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The one owner check: the task exists, and is this agent's and this caller's.
    ///
    /// # Errors
    ///
    /// [`Error::TaskNotFound`] otherwise, whatever the reason.
    pub fn authorize(&self, agent: &str, caller: &Caller) -> Result<(), Error> {
        let inner = self.inner.borrow();
        let is_owned = inner
            .facts
            .as_ref()
            .is_some_and(|facts| facts.agent == agent && facts.owner == caller.id);
        if is_owned && matches!(inner.phase, Phase::Live(_)) {
            return Ok(());
        }
        Err(Error::TaskNotFound(self.id.clone()))
    }

    /// Whether storage failed, so that this session is no longer true to it and must be opened anew.
    pub fn is_broken(&self) -> bool {
        self.is_broken.get()
    }

    /// Whether the session is better opened again when it is needed than kept: it takes much memory, its task
    /// has ended, and nothing about it is left to do.
    pub fn is_dispensable(&self) -> bool {
        let inner = self.inner.borrow();
        let is_stored = inner.unsaved.lines.is_empty() && self.hooks.borrow().is_empty();
        let is_large = inner.size > LARGE_BYTES;
        drop(inner);
        is_large && is_stored && self.is_over() && !self.owes_index()
    }

    /// Reads the task, if it exists.
    pub fn with_task<T>(&self, read: impl FnOnce(&Task) -> T) -> Option<T> {
        self.with_machine(|machine| read(machine.task()))
    }

    /// The task as 1.0 JSON. The whole one, unless it is large, is encoded once per change. What the run said
    /// since it was last stored is stored first.
    pub fn task_json(&self, history: HistoryLimit) -> Option<Rc<String>> {
        self.flush().ok()?;
        if history != HistoryLimit::All {
            return self.encoded(history, None);
        }
        if let Some(snapshot) = self.inner.borrow().snapshot.clone() {
            return Some(snapshot);
        }
        let snapshot = self.encoded(HistoryLimit::All, None)?;
        if snapshot.len() <= LARGE_BYTES {
            self.inner.borrow_mut().snapshot = Some(snapshot.clone());
        }
        Some(snapshot)
    }

    fn encoded(&self, history: HistoryLimit, generation: Option<u64>) -> Option<Rc<String>> {
        let view = |task: &Task| encode(&TaskView { generation, ..task.view(history) });
        self.with_task(view)?.ok().map(Rc::new)
    }

    /// The task as it stands, for an answer on these terms.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it does not exist.
    pub(super) fn shown(&self, history: HistoryLimit, terms: Terms) -> Result<ShownTask, Error> {
        let generation = self.generation();
        let json = match terms.shows_generation {
            true => self.encoded(history, Some(generation)),
            false => self.task_json(history),
        };
        json.map(|json| ShownTask { json, generation }).ok_or_else(|| self.internal())
    }

    /// The generation of the newest event; 0 while there is no task.
    pub fn generation(&self) -> u64 {
        self.with_machine(TaskMachine::generation).unwrap_or(0)
    }

    /// Begins a new task with its first message. Nothing is stored before the executor says something
    /// or the grace is over.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if there is no such agent.
    pub(super) fn begin(
        &self,
        mut message: Message,
        context_id: ContextId,
        metadata: Option<Metadata>,
        webhook: Option<TaskPushNotificationConfig>,
        sender: Sender,
    ) -> Result<(), Error> {
        let runner = (self.agents)(&sender.agent).ok_or(Error::Internal { task: None })?;
        message.context_id = Some(context_id.clone());
        let facts = TaskFacts {
            agent: sender.agent.clone(),
            owner: sender.caller.id.clone(),
            fingerprint: sender.fingerprint.clone(),
        };
        let begun = self.ports.clock.now();
        let request = self.request(&runner, sender, metadata.clone());
        let new = NewTask {
            id: self.id.clone(),
            context_id,
            message: message.clone(),
            metadata,
            request: request.clone(),
            begun,
        };
        self.hooks.borrow_mut().clear();
        if let Some(webhook) = webhook {
            self.register(webhook, 0)?;
        }
        {
            let mut inner = self.inner.borrow_mut();
            inner.facts = Some(facts);
            inner.phase = Phase::Draft(Box::new(new));
        }
        let begun_ms = begun.0;
        let start = RunStart { attempt: 1, resumes: false, message: 1, begun_ms, request };
        self.start_run(message, start);
        Ok(())
    }

    /// What a run for this sender is to know.
    fn request(&self, runner: &Runner, sender: Sender, metadata: Option<Metadata>) -> RunRequest {
        let longest = runner.settings.timeout_ms.unwrap_or(self.limits.run_timeout_ms);
        RunRequest {
            timeout_ms: sender.run_timeout_ms.unwrap_or(longest).min(longest),
            caller: sender.caller,
            accepted_output_modes: sender.accepted_output_modes,
            metadata,
        }
    }

    /// Gives the task one more message.
    ///
    /// # Errors
    ///
    /// Why it is refused: nothing has changed then.
    pub(super) fn receive(
        &self,
        message: Message,
        metadata: Option<Metadata>,
        sender: Sender,
    ) -> Result<bool, Refusal> {
        let runner = self.runner().ok_or(Refusal::NoAgent)?;
        let request = self.request(&runner, sender, metadata);
        self.step(Input::Message(message, request)).map_err(Refusal::Task)
    }

    /// Whether the send that began this session is repeated: the same one, under the same key.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the key was used for another message.
    pub(super) fn is_repeated(&self, sender: &Sender) -> Result<bool, Error> {
        let inner = self.inner.borrow();
        match (&inner.phase, &inner.facts) {
            (Phase::Empty, _) | (_, None) => Ok(false),
            (Phase::Draft(_) | Phase::Replied(_) | Phase::Live(_), Some(facts)) => {
                let is_same = facts.fingerprint == sender.fingerprint
                    && facts.agent == sender.agent
                    && facts.owner == sender.caller.id;
                if is_same {
                    return Ok(true);
                }
                let description = "was used for another message; take a new key for a new one";
                Err(Error::invalid("Idempotency-Key", description))
            }
        }
    }

    /// Notes that the agent is given the newest message of the client.
    pub(super) fn note_newest_message(&self, agent: &str) {
        self.with_task(|task| {
            let newest = task.history.iter().rfind(|message| message.role == Role::User);
            if let Some(message) = newest {
                self.observe(&Observation::MessageReceived { agent, task: &self.id, message });
            }
        });
    }

    /// Whether the task has received this very message before.
    pub(super) fn has_received(&self, message: &Message) -> bool {
        self.with_machine(|machine| machine.has_received(message)).unwrap_or(false)
    }

    /// Whether the task is at the generation that the caller expects, if it expects any.
    ///
    /// # Errors
    ///
    /// [`Error::GenerationMismatch`] otherwise.
    pub(super) fn check_generation(&self, expected: Option<u64>) -> Result<(), Error> {
        let generation = self.generation();
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
    pub(super) fn check_room(&self) -> Result<(), Error> {
        let is_from_user = |message: &&Message| message.role == Role::User;
        let length = self.with_task(|task| task.history.iter().filter(is_from_user).count());
        let Limits { max_history, max_task_bytes, .. } = self.limits;
        let max_values = self.max_values();
        let full = if length.unwrap_or(0) >= max_history {
            format!("has taken {max_history} messages")
        } else if self.inner.borrow().size >= max_task_bytes {
            format!("has grown to {max_task_bytes} bytes")
        } else if self.inner.borrow().values >= max_values {
            format!("has grown to {max_values} JSON values (MAX_JSON_VALUES)")
        } else {
            return Ok(());
        };
        let hint = format!("the task {full}, which is the limit; begin a new task");
        Err(Error::UnsupportedOperation(hint))
    }

    /// How many JSON values the log may hold.
    fn max_values(&self) -> usize {
        self.limits.max_json_values.saturating_mul(VALUES_PER_TASK)
    }

    /// Applies an input to the task and carries the effects out, except for storing: that is
    /// [`flush`](Self::flush). Says whether it had any effect.
    ///
    /// # Errors
    ///
    /// Why the machine refuses.
    pub(super) fn step(&self, input: Input) -> Result<bool, TaskError> {
        let now = self.ports.clock.now();
        let effects = match &mut self.inner.borrow_mut().phase {
            Phase::Live(machine) => machine.step(input, now)?,
            Phase::Empty | Phase::Draft(_) | Phase::Replied(_) => Vec::new(),
        };
        let is_effective = !effects.is_empty();
        for effect in effects {
            match effect {
                Effect::Append(entry) => self.append(&entry),
                Effect::Run(message) => {
                    let start = self.with_machine(|machine| machine.run().cloned());
                    if let Some(start) = start.flatten() {
                        self.start_run(message, start);
                    }
                }
                Effect::Offer(message) => self.inner.borrow_mut().inbox.push_back(message),
                Effect::Stop => self.is_canceled.set(true),
            }
        }
        Ok(is_effective)
    }

    /// Stores what has collected, as one batch, and wakes whoever waits.
    ///
    /// # Errors
    ///
    /// When storage fails: the session is broken then, and its run is told to stop.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        if self.is_broken() {
            return Err(StoreError::Failed("the session is broken".to_owned()));
        }
        let generation = self.generation();
        let mut inner = self.inner.borrow_mut();
        if inner.unsaved.lines.is_empty() {
            return Ok(());
        }
        let batch = Batch { generation, ..std::mem::take(&mut inner.unsaved) };
        let opening = if inner.is_stored { None } else { inner.facts.as_ref() };
        let result = self.store.append(opening, &batch).and_then(|()| self.store_new_hooks());
        inner.is_stored = true;
        drop(inner);
        if result.is_ok() {
            let is_over = self.is_over();
            self.ports.followers.publish(&|| frame::events(&batch, 0), is_over);
        }
        if let Err(error) = &result {
            self.give_up(error);
        }
        self.changed.notify_waiters();
        self.note_stored();
        self.project();
        self.poke();
        self.arm();
        result
    }

    /// Whether a row may be written now for what was said, or how long to wait, in milliseconds. What
    /// must not wait is: a task that has come to rest.
    pub(super) fn pause_before_storing(&self) -> u64 {
        if self.inner.borrow().unsaved.lines.is_empty() || self.is_settled() {
            return 0;
        }
        let interval = self.limits.event_interval_ms;
        let burst = i64::try_from(interval.saturating_mul(BURST - 1)).unwrap_or(i64::MAX);
        let free = self.paced_until.get().saturating_sub(burst);
        u64::try_from(free.saturating_sub(self.ports.clock.now().0)).unwrap_or(0)
    }

    fn note_stored(&self) {
        let interval = i64::try_from(self.limits.event_interval_ms).unwrap_or(i64::MAX);
        let from = self.paced_until.get().max(self.ports.clock.now().0);
        self.paced_until.set(from.saturating_add(interval));
    }

    /// Sets the alarm for what the task must be woken for next, if it is not set for that already.
    pub(super) fn arm(&self) {
        if self.is_broken() || !self.exists() {
            return;
        }
        let now = self.ports.clock.now();
        let run_until = self.with_machine(|machine| {
            let run = machine.run().filter(|_| machine.is_active());
            run.map(RunStart::deadline)
        });
        let (webhook_look, webhook_retry) = self.webhook_wants();
        let wants = Wants {
            run_until: run_until.flatten(),
            owes_index: self.owes_index(),
            index_retry: self.projection.retry_at(),
            webhook_look,
            webhook_retry,
            keep_until: self.keep_until(),
        };
        if let Some(at) = self.deadlines.borrow_mut().update(&wants, self.limits.keep_alive_ms, now)
        {
            self.ports.runtime.set_alarm(at);
        }
    }

    pub(super) fn hooks(&self) -> &RefCell<Vec<Hook>> {
        &self.hooks
    }

    pub(super) fn deadlines(&self) -> &RefCell<Deadlines> {
        &self.deadlines
    }

    /// Makes the task exist, if it does not yet.
    pub(super) fn create(&self) {
        let mut inner = self.inner.borrow_mut();
        let new = match std::mem::replace(&mut inner.phase, Phase::Empty) {
            Phase::Draft(new) => new,
            other => {
                inner.phase = other;
                return;
            }
        };
        let (machine, opening) = TaskMachine::create(*new, self.ports.clock.now());
        inner.phase = Phase::Live(Box::new(machine));
        drop(inner);
        for entry in &opening {
            self.append(entry);
        }
    }

    /// The run is over. One that said nothing at all, unless it panicked, leaves a failed task.
    pub(super) fn end_run(&self, outcome: RunOutcome) {
        self.create();
        // Ending a run is always legal.
        let _ = self.step(Input::RunEnded(outcome));
    }

    /// The executor panicked. A task that nobody has seen is forgotten; any other goes on as one whose
    /// run was interrupted. Whoever waits gets an error if it comes to an end by that.
    pub(super) fn note_crash(&self) {
        if self.exists() {
            match self.store.load().and_then(|stored| {
                entries_of(&self.id, stored.map(|stored| stored.log).unwrap_or_default())
            }) {
                Ok(log) => self.recover(Loss::Crashed, &log),
                Err(error) => self.give_up(&error),
            }
        } else {
            self.inner.borrow_mut().phase = Phase::Empty;
        }
        if !self.is_at_work() {
            self.crashes.set(self.crashes.get() + 1);
        }
        self.changed.notify_waiters();
    }

    /// Whether a run is under way on a task that exists.
    fn is_at_work(&self) -> bool {
        self.with_machine(TaskMachine::is_active).unwrap_or(false)
    }

    /// Storage has failed: the session is not true to it any more.
    fn give_up(&self, error: &StoreError) {
        self.observe(&Observation::StoringFailed { task: &self.id, reason: error.reason() });
        self.is_broken.set(true);
        self.is_canceled.set(true);
        self.crashes.set(self.crashes.get() + 1);
    }

    /// The session is over: what it had in memory is not so any more.
    pub(super) fn close(&self) {
        self.is_broken.set(true);
        self.changed.notify_waiters();
    }

    /// How many runs of this session have crashed.
    pub(super) fn crashes(&self) -> u64 {
        self.crashes.get()
    }

    /// Whether clients can see the task.
    pub(super) fn exists(&self) -> bool {
        matches!(self.inner.borrow().phase, Phase::Live(_))
    }

    /// Whether a blocking send has nothing to wait for any more.
    pub(super) fn is_settled(&self) -> bool {
        self.with_machine(TaskMachine::is_settled).unwrap_or(false)
    }

    /// Whether the task has ended.
    pub(super) fn is_over(&self) -> bool {
        self.with_machine(|machine| machine.state().is_terminal()).unwrap_or(false)
    }

    /// The frames with the events after a generation, as many as fit one page, and whether there are
    /// more.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(super) fn frames_after(&self, after: u64) -> Result<(Vec<String>, bool), Error> {
        self.flush().map_err(|_| self.internal())?;
        let (batches, has_more) = self.store.read_after(after, PAGE_BYTES).map_err(|error| {
            self.observe(&Observation::ReadingFailed { task: &self.id, reason: error.reason() });
            self.internal()
        })?;
        let frames = batches.iter().filter_map(|batch| frame::events(batch, after));
        Ok((frames.collect(), has_more))
    }

    /// The message that was given instead of a task.
    pub(super) fn reply(&self) -> Option<Message> {
        match &self.inner.borrow().phase {
            Phase::Replied(message) => Some(message.as_ref().clone()),
            Phase::Empty | Phase::Draft(_) | Phase::Live(_) => None,
        }
    }

    /// Somebody asked for the task.
    pub(super) fn note_poll(&self) {
        self.polls.set(self.polls.get() + 1);
        self.changed.notify_waiters();
    }

    /// Waits until something is so, `limit_ms` milliseconds at most.
    pub(super) async fn until(&self, is_so: &dyn Fn() -> bool, limit_ms: u64) {
        let mut limit = self.ports.clock.sleep(limit_ms);
        loop {
            // Registered before the check: a change in between is not missed.
            let changed = self.changed();
            if is_so() {
                return;
            }
            match select(changed, limit).await {
                Either::Left(((), rest)) => limit = rest,
                Either::Right(_) => return,
            }
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn ports(&self) -> &Ports {
        &self.ports
    }

    pub(super) fn observe(&self, observation: &Observation<'_>) {
        self.ports.observer.observe(observation);
    }

    pub(super) fn store(&self) -> &dyn TaskStore {
        self.store.as_ref()
    }

    pub(super) fn projection(&self) -> &Projection {
        &self.projection
    }

    pub(super) fn me(&self) -> Option<Rc<Self>> {
        self.me.upgrade()
    }

    /// What is known of the task from its first moment on.
    pub(super) fn facts(&self) -> Option<TaskFacts> {
        self.inner.borrow().facts.clone()
    }

    /// The error for a failure on our side, with the task if clients can know it.
    pub(super) fn internal(&self) -> Error {
        Error::Internal { task: self.exists().then(|| self.id.clone()) }
    }

    fn start_run(&self, message: Message, start: RunStart) {
        self.polls.set(0);
        self.progressed.set(self.ports.clock.now());
        {
            let mut inner = self.inner.borrow_mut();
            inner.inbox.clear();
            inner.steps.clear();
            if !start.resumes {
                inner.recall = None;
            }
        }
        if let Some(session) = self.me() {
            self.ports.runtime.spawn(Box::pin(drive(session, message, start)));
        }
    }

    /// Completes when the run has done nothing for this many milliseconds. A run that waits for the
    /// client is not idle.
    pub(super) async fn idle_for(&self, millis: u64) {
        let limit = i64::try_from(millis).unwrap_or(i64::MAX);
        loop {
            if self.is_settled() {
                self.changed.notified().await;
                self.progressed.set(self.ports.clock.now());
                continue;
            }
            let left = self.progressed.get().0.saturating_add(limit) - self.ports.clock.now().0;
            match u64::try_from(left) {
                Ok(left) if left > 0 => self.ports.clock.sleep(left).await,
                Ok(_) | Err(_) => return,
            }
        }
    }

    fn append(&self, entry: &LogEntry) {
        let mut inner = self.inner.borrow_mut();
        inner.snapshot = None;
        // The model has no map with keys other than strings, so encoding cannot fail.
        let (line, values) = encode_line(entry).unwrap_or_default();
        inner.size += line.len() + 1;
        inner.values += values;
        let lines = &mut inner.unsaved.lines;
        if lines.is_empty() {
            *lines = line;
        } else {
            // Doubling a large text would take three times its size.
            let slack = lines.len().min(LINES_SLACK_BYTES);
            if lines.capacity() - lines.len() <= line.len() {
                lines.reserve_exact(line.len() + 1 + slack);
            }
            lines.push_str(&line);
        }
        lines.push('\n');
        inner.unsaved.marks.push(Mark::of_entry(entry));
    }

    pub(super) fn with_machine<T>(&self, read: impl FnOnce(&TaskMachine) -> T) -> Option<T> {
        match &self.inner.borrow().phase {
            Phase::Live(machine) => Some(read(machine)),
            Phase::Empty | Phase::Draft(_) | Phase::Replied(_) => None,
        }
    }
}

/// The entries of a stored log. One line at a time is a tree of JSON, and a batch that was read is
/// dropped.
fn entries_of(id: &TaskId, log: Vec<Batch>) -> Result<Vec<LogEntry>, StoreError> {
    let mut entries = Vec::new();
    for batch in log {
        for line in batch.lines.lines() {
            let entry = LogEntry::parse(line);
            entries.push(
                entry.map_err(|error| StoreError::Unreadable(format!("log of {id}: {error}")))?,
            );
        }
    }
    Ok(entries)
}

/// Why a task did not take one more message.
pub(super) enum Refusal {
    /// Its agent is not served any more.
    NoAgent,
    /// The task does not take it.
    Task(TaskError),
}

/// How many rows of events may follow each other without a pause.
const BURST: u64 = 4;

/// How many times the values of one body a task may hold.
const VALUES_PER_TASK: usize = 10;

/// Above this size neither the encoding of a task nor, once it has ended, the task itself is kept, in bytes.
const LARGE_BYTES: usize = 256 * 1024;

/// How much more room than needed the text of unsaved entries is given when it grows, at most, in bytes.
const LINES_SLACK_BYTES: usize = 64 * 1024;

/// How much of the log is read at once for somebody who catches up, in bytes.
const PAGE_BYTES: usize = 512 * 1024;
