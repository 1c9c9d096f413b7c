//! One task in memory: its machine, what of it is not stored yet, its run, and who waits for it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use futures_util::future::{Either, LocalBoxFuture, select};
use tokio::sync::Notify;

use super::frame::{self, Mark};
use super::projection::Projection;
use super::run::drive;
use super::send_message::Sender;
use super::{ShownTask, Terms};
use crate::auth::Caller;
use crate::config::Limits;
use crate::error::Error;
use crate::executor::{Emission, ExecutorError, TurnHost};
use crate::model::{
    HistoryLimit, Message, Metadata, Role, Task, TaskId, TaskState, TaskView, UnixMillis,
};
use crate::port::{Batch, Indexed, Platform, StoreError, TaskFacts, TaskStore};
use crate::task::{Effect, Input, LogEntry, NewTask, RunOutcome, TaskError, TaskMachine};
use crate::tool::Counters;

/// One task in memory.
///
/// Everything that changes the task is synchronous: the machine decides, the entries collect, and
/// `flush` stores them before anybody else can run. So nobody ever sees what is not
/// stored, and two requests never interleave within a change.
pub struct TaskSession {
    id: TaskId,
    store: Box<dyn TaskStore>,
    platform: Rc<dyn Platform>,
    limits: Limits,
    changed: Notify,
    inner: RefCell<Inner>,
    polls: Cell<u64>,
    crashes: Cell<u64>,
    is_canceled: Cell<bool>,
    is_broken: Cell<bool>,
    projection: Projection,
    me: std::rc::Weak<Self>,
}

struct Inner {
    phase: Phase,
    facts: Option<TaskFacts>,
    is_stored: bool,
    unsaved: Batch,
    snapshot: Option<Rc<str>>,
    sender: Option<Sender>,
    metadata: Option<Metadata>,
    inbox: VecDeque<Message>,
}

/// How far the task has come to be.
enum Phase {
    /// There is none.
    Empty,
    /// A run is under way that has not said anything yet.
    Draft(NewTask),
    /// The run answered with a message instead.
    Replied(Message),
    /// It exists.
    Live(TaskMachine),
}

impl TaskSession {
    /// The session of the task with this id, from storage if it is there. A task whose run was lost
    /// is brought to an end first.
    ///
    /// # Errors
    ///
    /// When storage fails.
    pub fn open(
        id: TaskId,
        store: Box<dyn TaskStore>,
        platform: Rc<dyn Platform>,
        limits: Limits,
    ) -> Result<Rc<Self>, StoreError> {
        let stored = store.load()?;
        let (phase, facts, indexed) = match stored {
            None => (Phase::Empty, None, Indexed::default()),
            Some(stored) => {
                let mut entries = Vec::new();
                for line in stored.log.iter().flat_map(|batch| batch.lines.lines()) {
                    let entry: LogEntry = serde_json::from_str(line)
                        .map_err(|error| StoreError(format!("log of {id}: {error}")))?;
                    entries.push(entry);
                }
                let machine = TaskMachine::replay(entries)
                    .ok_or_else(|| StoreError(format!("log of {id} does not begin with a task")))?;
                (Phase::Live(machine), Some(stored.facts), stored.indexed)
            }
        };
        let inner = Inner {
            phase,
            is_stored: facts.is_some(),
            facts,
            unsaved: Batch::default(),
            snapshot: None,
            sender: None,
            metadata: None,
            inbox: VecDeque::new(),
        };
        let session = Rc::new_cyclic(|me| Self {
            id,
            store,
            platform,
            limits,
            changed: Notify::new(),
            inner: RefCell::new(inner),
            polls: Cell::new(0),
            crashes: Cell::new(0),
            is_canceled: Cell::new(false),
            is_broken: Cell::new(false),
            projection: Projection::new(indexed),
            me: me.clone(),
        });
        if session.with_machine(TaskMachine::is_orphaned).unwrap_or(false) {
            session.end_run(RunOutcome::Lost);
            session.flush()?;
        }
        session.project();
        Ok(session)
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

    /// Reads the task, if it exists.
    pub fn with_task<T>(&self, read: impl FnOnce(&Task) -> T) -> Option<T> {
        self.with_machine(|machine| read(machine.task()))
    }

    /// The task as 1.0 JSON. The whole one is encoded once per change.
    pub fn task_json(&self, history: HistoryLimit) -> Option<Rc<str>> {
        if history != HistoryLimit::All {
            return self.encoded(history, None);
        }
        if let Some(snapshot) = self.inner.borrow().snapshot.clone() {
            return Some(snapshot);
        }
        let snapshot = self.encoded(HistoryLimit::All, None)?;
        self.inner.borrow_mut().snapshot = Some(snapshot.clone());
        Some(snapshot)
    }

    fn encoded(&self, history: HistoryLimit, generation: Option<u64>) -> Option<Rc<str>> {
        let view =
            |task: &Task| serde_json::to_string(&TaskView { generation, ..task.view(history) });
        self.with_task(view)?.ok().map(Rc::<str>::from)
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
    pub(super) fn begin(&self, mut new: NewTask, sender: Sender) {
        new.message.context_id = Some(new.context_id.clone());
        let message = new.message.clone();
        {
            let mut inner = self.inner.borrow_mut();
            inner.facts = Some(TaskFacts {
                agent: sender.agent.clone(),
                owner: sender.caller.id.clone(),
                fingerprint: sender.fingerprint.clone(),
            });
            inner.metadata = new.metadata.clone();
            inner.phase = Phase::Draft(new);
            inner.sender = Some(sender);
        }
        self.start_run(message);
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

    /// Remembers who sent the newest message: runs answer for that sender.
    pub(super) fn set_sender(&self, sender: Sender) {
        self.inner.borrow_mut().sender = Some(sender);
    }

    /// Notes that the agent is given the newest message of the client.
    pub(super) fn note_newest_message(&self, agent: &str) {
        self.with_task(|task| {
            let newest = task.history.iter().rfind(|message| message.role == Role::User);
            if let Some(message) = newest {
                self.platform.note_message(agent, &self.id, message);
            }
        });
    }

    /// Whether the task has received this very message before.
    pub(super) fn has_received(&self, message: &Message) -> bool {
        self.with_machine(|machine| machine.has_received(message)).unwrap_or(false)
    }

    /// Whether the task takes one more message.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] if its history is full.
    pub(super) fn check_room(&self) -> Result<(), Error> {
        let is_from_user = |message: &&Message| message.role == Role::User;
        let length = self.with_task(|task| task.history.iter().filter(is_from_user).count());
        if length.unwrap_or(0) < self.limits.max_history {
            return Ok(());
        }
        Err(Error::UnsupportedOperation(format!(
            "the task has taken {} messages, which is the limit; begin a new task",
            self.limits.max_history
        )))
    }

    /// Applies an input to the task and carries the effects out, except for storing: that is
    /// [`flush`](Self::flush). Says whether it had any effect.
    ///
    /// # Errors
    ///
    /// Why the machine refuses.
    pub(super) fn step(&self, input: Input) -> Result<bool, TaskError> {
        let now = self.platform.now();
        let effects = match &mut self.inner.borrow_mut().phase {
            Phase::Live(machine) => machine.step(input, now)?,
            Phase::Empty | Phase::Draft(_) | Phase::Replied(_) => Vec::new(),
        };
        let is_effective = !effects.is_empty();
        for effect in effects {
            match effect {
                Effect::Append(entry) => self.append(&entry),
                Effect::Run(message) => self.start_run(message),
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
            return Err(StoreError("the session is broken".to_owned()));
        }
        let generation = self.generation();
        let mut inner = self.inner.borrow_mut();
        if inner.unsaved.lines.is_empty() {
            return Ok(());
        }
        let batch = Batch { generation, ..std::mem::take(&mut inner.unsaved) };
        let opening = if inner.is_stored { None } else { inner.facts.as_ref() };
        let result = self.store.append(opening, &batch);
        inner.is_stored = true;
        drop(inner);
        if result.is_ok() {
            let is_over = self.is_over();
            self.platform.publish(&|| frame::events(&batch, 0), is_over);
        }
        if let Err(error) = &result {
            self.platform.log_error(&format!("task {}: storing failed: {error}", self.id));
            self.is_broken.set(true);
            self.is_canceled.set(true);
            self.crashes.set(self.crashes.get() + 1);
        }
        self.changed.notify_waiters();
        self.project();
        result
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
        let (machine, opening) = TaskMachine::create(new, self.platform.now());
        inner.phase = Phase::Live(machine);
        drop(inner);
        self.append(&opening);
    }

    /// The run is over. One that said nothing at all, unless it panicked, leaves a failed task.
    pub(super) fn end_run(&self, outcome: RunOutcome) {
        self.create();
        // Ending a run is always legal.
        let _ = self.step(Input::RunEnded(outcome));
    }

    /// The executor panicked. A task that nobody has seen is forgotten; whoever waits gets an error.
    pub(super) fn note_crash(&self) {
        self.crashes.set(self.crashes.get() + 1);
        let mut inner = self.inner.borrow_mut();
        if matches!(inner.phase, Phase::Draft(_)) {
            inner.phase = Phase::Empty;
        }
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
        let (batches, has_more) = self.store.read_after(after, PAGE_BYTES).map_err(|error| {
            self.platform.log_error(&format!("task {}: reading failed: {error}", self.id));
            self.internal()
        })?;
        let frames = batches.iter().filter_map(|batch| frame::events(batch, after));
        Ok((frames.collect(), has_more))
    }

    /// The message that was given instead of a task.
    pub(super) fn reply(&self) -> Option<Message> {
        match &self.inner.borrow().phase {
            Phase::Replied(message) => Some(message.clone()),
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
        let mut limit = self.platform.sleep(limit_ms);
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

    pub(super) fn platform(&self) -> &dyn Platform {
        self.platform.as_ref()
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

    /// Who sent the newest message, and the metadata of the first request.
    pub(super) fn run_context(&self) -> Option<(Sender, Option<Metadata>)> {
        let inner = self.inner.borrow();
        inner.sender.clone().map(|sender| (sender, inner.metadata.clone()))
    }

    fn start_run(&self, message: Message) {
        self.polls.set(0);
        if let Some(session) = self.me() {
            self.platform.spawn(Box::pin(drive(session, message)));
        }
    }

    fn append(&self, entry: &LogEntry) {
        let mut inner = self.inner.borrow_mut();
        inner.snapshot = None;
        // The model has no map with keys other than strings, so encoding cannot fail.
        let line = serde_json::to_string(entry).unwrap_or_default();
        inner.unsaved.lines.push_str(&line);
        inner.unsaved.lines.push('\n');
        inner.unsaved.marks.push(Mark::of_entry(entry));
    }

    pub(super) fn with_machine<T>(&self, read: impl FnOnce(&TaskMachine) -> T) -> Option<T> {
        match &self.inner.borrow().phase {
            Phase::Live(machine) => Some(read(machine)),
            Phase::Empty | Phase::Draft(_) | Phase::Replied(_) => None,
        }
    }

    /// Whether the task may take what the executor says.
    fn check_emission(&self, emission: &Emission) -> Result<(), ExecutorError> {
        if self.is_broken() {
            return Err(ExecutorError("the task cannot be stored".to_owned()));
        }
        let size = match emission {
            Emission::Status { message, .. } => encoded_size(message),
            Emission::Artifact { artifact, .. } => encoded_size(artifact),
            Emission::Reply(message) => encoded_size(message),
        };
        if size > self.limits.max_event_bytes {
            let limit = self.limits.max_event_bytes;
            return Err(ExecutorError(format!(
                "the agent gave an event of {size} bytes; the limit is {limit}"
            )));
        }
        if let Emission::Artifact { artifact, append: false, .. } = emission {
            let is_full = self.with_task(|task| {
                let is_known =
                    |known: &crate::model::Artifact| known.artifact_id == artifact.artifact_id;
                task.artifacts.len() >= self.limits.max_artifacts
                    && !task.artifacts.iter().any(is_known)
            });
            if is_full.unwrap_or(false) {
                let limit = self.limits.max_artifacts;
                return Err(ExecutorError(format!("a task holds at most {limit} artifacts")));
            }
        }
        Ok(())
    }
}

impl TurnHost for TaskSession {
    fn emit(&self, emission: Emission) -> Result<(), ExecutorError> {
        self.check_emission(&emission)?;
        let input = match emission {
            Emission::Reply(message) if !self.exists() => {
                let mut inner = self.inner.borrow_mut();
                let Phase::Draft(new) = &inner.phase else {
                    return Err(ExecutorError("the agent has replied already".to_owned()));
                };
                let context_id = Some(new.context_id.clone());
                inner.phase = Phase::Replied(Message { context_id, ..message });
                self.changed.notify_waiters();
                return Ok(());
            }
            Emission::Reply(message) => {
                Input::Status { state: TaskState::Completed, message: Some(message) }
            }
            Emission::Status { state: TaskState::Working, message: None }
                if self.is_plainly_working() =>
            {
                return Ok(());
            }
            Emission::Status { state, message } => Input::Status { state, message },
            Emission::Artifact { artifact, append, last_chunk } => {
                Input::Artifact { artifact, append, last_chunk }
            }
        };
        self.create();
        if !self.exists() {
            return Err(ExecutorError("the agent has replied already".to_owned()));
        }
        self.step(input)?;
        if self.inner.borrow().unsaved.lines.len() > MAX_BATCH_BYTES {
            self.flush().map_err(|_| ExecutorError("the task cannot be stored".to_owned()))?;
        }
        Ok(())
    }

    fn history(&self) -> Vec<Message> {
        match &self.inner.borrow().phase {
            Phase::Live(machine) => machine.task().history.clone(),
            Phase::Draft(new) => vec![new.message.clone()],
            Phase::Empty | Phase::Replied(_) => Vec::new(),
        }
    }

    fn is_canceled(&self) -> bool {
        self.is_canceled.get()
    }

    fn take_message(&self) -> Option<Message> {
        let message = self.inner.borrow_mut().inbox.pop_front()?;
        // Taking a message is always legal.
        let _ = self.step(Input::MessageTaken);
        Some(message)
    }

    fn polls(&self) -> u64 {
        self.polls.get()
    }

    fn changed(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.changed.notified())
    }

    fn now(&self) -> UnixMillis {
        self.platform.now()
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        self.platform.sleep(millis)
    }

    fn new_id(&self) -> String {
        self.platform.new_id()
    }

    fn counters(&self) -> &dyn Counters {
        self.platform.counters()
    }
}

impl TaskSession {
    fn is_plainly_working(&self) -> bool {
        let is_plain =
            |task: &Task| task.status.state == TaskState::Working && task.status.message.is_none();
        self.with_task(is_plain).unwrap_or(false)
    }
}

/// Events that are said without waiting are one row up to this size, in bytes.
const MAX_BATCH_BYTES: usize = 512 * 1024;

/// How much of the log is read at once for somebody who catches up, in bytes.
const PAGE_BYTES: usize = 512 * 1024;

fn encoded_size(value: &impl serde::Serialize) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}
