//! The task machine: what each input does to a task.

mod parking;
mod runs;

use std::fmt;

use serde_json::Value;

use super::callback::Callbacks;
use super::failed::FailedSteps;
use super::transition::may_enter;
use super::{
    CallbackCall, CallbackRecord, HeldText, LogEntry, Park, RunRequest, RunStart, StepRecord,
    WaitEnd, WokenBy,
};
use a2a::model::{
    Artifact, ContextId, Message, Metadata, Part, Role, TIMED_OUT, Task, TaskArtifactUpdateEvent,
    TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent, UnixMillis,
};
use a2a_agents::Recovery;

use crate::usage::{StepUsage, TaskUsage};

/// A task, and what may happen to it next.
///
/// Invariants: generations count 1, 2, 3 …; a terminal state is final; the task equals the
/// [`replay`](Self::replay) of all entries ever appended; while the state is active (submitted or
/// working), a run is under way, parked, or was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskMachine {
    task: Task,
    created: Option<UnixMillis>,
    generation: u64,
    /// The generation at which the present status was entered.
    status_generation: u64,
    /// The generation of the newest event about an artifact; 0 if there was none.
    artifact_generation: u64,
    /// Whether a run of the executor is under way. Not part of the log: a machine that comes from
    /// storage has none.
    running: bool,
    /// How the newest run began.
    run: Option<RunStart>,
    /// What the newest message came with, for the run that will handle it. Not part of the log.
    latest: Option<RunRequest>,
    /// Messages that came since the newest run began and that it has not taken.
    unread: usize,
    /// What the newest run waits for, outside of memory. None once the task has ended.
    parked: Option<Park>,
    /// Whether the newest turn has been parked, and its run is not over. Such a run goes on also if its task waits for
    /// the client.
    is_waiting_turn: bool,
    /// The callbacks of the newest turn.
    callbacks: Callbacks,
    /// Whether the executor has done what it has to do about an end that it did not choose, where that is kept.
    is_end_told: bool,
    /// What the turns have used of models.
    usage: TaskUsage,
    /// The steps that failed.
    failed: FailedSteps,
}

/// What a new task starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTask {
    /// Its id.
    pub id: TaskId,
    /// Its conversation.
    pub context_id: ContextId,
    /// The message that asked for it.
    pub message: Message,
    /// Its metadata.
    pub metadata: Option<Metadata>,
    /// What else the request for it said.
    pub request: RunRequest,
    /// When its first run began.
    pub begun: UnixMillis,
}

/// Something that happens to a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The client says something more; with it what else its request said.
    Message(Message, RunRequest),
    /// The client cancels.
    Cancel,
    /// The executor enters a state.
    Status {
        /// The state.
        state: TaskState,
        /// What the agent says with it.
        message: Option<Message>,
        /// The metadata of the event.
        metadata: Option<Metadata>,
    },
    /// The executor begins or replaces an artifact, or adds to one.
    Artifact {
        /// The artifact, or its next chunk.
        artifact: Artifact,
        /// Whether it is a chunk of an artifact that exists.
        append: bool,
        /// Whether the artifact is complete with it.
        last_chunk: bool,
        /// The metadata of the event.
        metadata: Option<Metadata>,
        /// What is held back of it, for a run that repeats it.
        held: Option<HeldText>,
    },
    /// The run took a message that was offered to it.
    MessageTaken,
    /// A step of the run is done.
    StepDone(StepRecord),
    /// The run has used something of models that no step of it will tell. Counts also if the task has ended meanwhile.
    Used(StepUsage),
    /// The run waits outside of memory, and is dropped.
    Park(Park),
    /// A wait of the run is over, without that it was parked.
    WaitOver(WaitEnd),
    /// The run makes a callback.
    CallbackMade(CallbackRecord),
    /// Somebody has posted to a callback, which takes it.
    Called(CallbackCall),
    /// A parked run goes on if its time has come.
    Wake {
        /// Whether there is anybody who can run it.
        is_served: bool,
    },
    /// The executor has done what it has to do about an end that it did not choose.
    EndTold,
    /// The executor's run is over.
    RunEnded(RunOutcome),
    /// The executor's run is gone before it was over.
    RunLost {
        /// How it went.
        loss: Loss,
        /// What the executor wants to be done about it.
        recovery: Recovery,
        /// How many attempts a turn has at most.
        max_attempts: u32,
    },
}

/// How a run of the executor ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// It returned normally.
    Finished,
    /// It failed, for this reason, which the client may read.
    Failed(String),
}

/// How a run was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The object was evicted or died while it was under way.
    Interrupted,
    /// It panicked.
    Crashed,
}

/// What the outside must do, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append this entry to the log. Entries of one synchronous run go into one row.
    Append(LogEntry),
    /// Start a run of the executor for this message, as [`TaskMachine::run`] says.
    Run(Message),
    /// Offer this message to the run that is under way.
    Offer(Message),
    /// Give the run that is under way what was posted to a callback.
    Call(CallbackCall),
    /// Tell the run to stop; nothing that it says counts any more.
    Stop,
}

/// Why an input was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskError {
    /// The task is in this terminal state, which is final.
    Finished(TaskState),
    /// The task ended in this state and cannot be canceled any more.
    NotCancelable(TaskState),
    /// No agent may make this move.
    IllegalMove {
        /// The present state.
        from: TaskState,
        /// The state asked for.
        to: TaskState,
    },
    /// Nobody is at work on the task, so nobody can say this.
    NoRun,
    /// The message names another conversation than the task's.
    OtherContext {
        /// The task's conversation.
        expected: ContextId,
    },
    /// A chunk for an artifact that was never begun.
    UnknownArtifact(String),
    /// An artifact or chunk without parts.
    NoParts(String),
}

impl TaskMachine {
    /// Creates a task in the state submitted (generation 1) for a run that is under way, and gives
    /// the entries that open its log.
    pub fn create(new: NewTask, now: UnixMillis) -> (Self, [LogEntry; 2]) {
        let NewTask { id, context_id, message, metadata, request, begun } = new;
        let message = addressed(message, &id, &context_id);
        let status =
            TaskStatus { state: TaskState::Submitted, message: None, timestamp: Some(now) };
        let history = vec![message];
        let task = Task { id, context_id, status, artifacts: Vec::new(), history, metadata };
        let opening = LogEntry::Task(task.clone());
        let mut machine = Self::of(task);
        machine.running = true;
        let run = LogEntry::Run(RunStart {
            attempt: 1,
            resumes: false,
            message: 1,
            begun_ms: begun.0,
            request,
        });
        machine.apply(run.clone());
        (machine, [opening, run])
    }

    /// Rebuilds a task from its log; `None` if the log does not begin with a task.
    pub fn replay(entries: impl IntoIterator<Item = LogEntry>) -> Option<Self> {
        let mut entries = entries.into_iter();
        let LogEntry::Task(task) = entries.next()? else { return None };
        let mut machine = Self::of(task);
        for entry in entries {
            machine.apply(entry);
        }
        Some(machine)
    }

    /// Goes on in the log that the task was rebuilt from, by one entry.
    pub fn follow(&mut self, entry: LogEntry) {
        self.apply(entry);
    }

    fn of(task: Task) -> Self {
        Self {
            created: task.status.timestamp,
            task,
            generation: 1,
            status_generation: 1,
            artifact_generation: 0,
            running: false,
            run: None,
            latest: None,
            unread: 0,
            parked: None,
            is_waiting_turn: false,
            callbacks: Callbacks::default(),
            is_end_told: false,
            usage: TaskUsage::default(),
            failed: FailedSteps::default(),
        }
    }

    /// Applies one input; returns what the outside must do, in order.
    ///
    /// # Errors
    ///
    /// See [`TaskError`]. A refused input changes nothing.
    pub fn step(&mut self, input: Input, now: UnixMillis) -> Result<Vec<Effect>, TaskError> {
        let state = self.state();
        match input {
            Input::Message(message, request) => self.receive(message, request, now),
            Input::Cancel if state == TaskState::Canceled => Ok(Vec::new()),
            Input::Cancel if state.is_terminal() => Err(TaskError::NotCancelable(state)),
            Input::Cancel => Ok(vec![self.enter(TaskState::Canceled, None, now), Effect::Stop]),
            Input::MessageTaken if self.unread == 0 || state.is_terminal() => Ok(Vec::new()),
            Input::MessageTaken => Ok(vec![self.append(LogEntry::Taken)]),
            Input::EndTold if self.ended_otherwise() => Ok(vec![self.append(LogEntry::Ended)]),
            Input::EndTold => Ok(Vec::new()),
            Input::Used(usage) => {
                Ok(vec![self.append(LogEntry::Step(StepRecord::of_usage(usage)))])
            }
            Input::RunEnded(outcome) => Ok(self.end_run(outcome, now)),
            Input::RunLost { loss, recovery, max_attempts } => {
                Ok(self.lose_run(loss, recovery, max_attempts, now))
            }
            Input::Wake { is_served } => Ok(self.wake(is_served, now)),
            Input::Status { .. }
            | Input::Artifact { .. }
            | Input::StepDone(_)
            | Input::Park(_)
            | Input::WaitOver(_)
            | Input::CallbackMade(_)
            | Input::Called(_)
                if state.is_terminal() =>
            {
                Err(TaskError::Finished(state))
            }
            Input::Called(call) => self.called(call, now),
            Input::Status { .. }
            | Input::Artifact { .. }
            | Input::StepDone(_)
            | Input::Park(_)
            | Input::WaitOver(_)
            | Input::CallbackMade(_)
                if !self.running =>
            {
                Err(TaskError::NoRun)
            }
            Input::Park(park) => Ok(self.park(park)),
            Input::WaitOver(end) => Ok(vec![self.append(LogEntry::Woken(end))]),
            Input::CallbackMade(record) => Ok(vec![self.append(LogEntry::Callback(record))]),
            Input::StepDone(step) => Ok(vec![self.append(LogEntry::Step(step))]),
            Input::Status { state: to, .. } if !may_enter(state, to) => {
                Err(TaskError::IllegalMove { from: state, to })
            }
            Input::Status { state: to, message, metadata } => {
                Ok(vec![self.enter_with(to, message, metadata, now)])
            }
            Input::Artifact { artifact, append, last_chunk, metadata, held } => {
                let (task_id, context_id) = (self.task.id.clone(), self.task.context_id.clone());
                let event = TaskArtifactUpdateEvent {
                    task_id,
                    context_id,
                    artifact,
                    append,
                    last_chunk,
                    metadata,
                };
                self.produce(event, held)
            }
        }
    }

    /// The task as it stands.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Its present state.
    pub fn state(&self) -> TaskState {
        self.task.status.state
    }

    /// When it was created, if that is known.
    pub fn created(&self) -> Option<UnixMillis> {
        self.created
    }

    /// How many events it has had; that of the newest event.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The generation of the event that brought the present status.
    pub fn status_generation(&self) -> u64 {
        self.status_generation
    }

    /// The generation of the newest event about an artifact; 0 if there was none.
    pub fn artifact_generation(&self) -> u64 {
        self.artifact_generation
    }

    /// How the newest run began.
    pub fn run(&self) -> Option<&RunStart> {
        self.run.as_ref()
    }

    /// What the turns have used of models.
    pub fn usage(&self) -> &TaskUsage {
        &self.usage
    }

    /// How many steps have failed though the task went on.
    pub fn failed_steps(&self) -> u64 {
        self.failed.count()
    }

    /// The newest turn: which of the client's messages it handles, from 1; 0 before the first.
    pub fn turn(&self) -> u64 {
        self.run.as_ref().map_or(0, |run| run.message as u64)
    }

    /// The newest turn that has used something of models and has come to its end.
    pub fn turn_to_count(&self) -> u64 {
        let newest = self.turn();
        let used = self.usage.behind(0).map(|known| known.turn);
        used.filter(|turn| *turn < newest || self.is_turn_over()).last().unwrap_or(0)
    }

    /// Whether an executor is, or should be, at work.
    pub fn is_active(&self) -> bool {
        !self.is_settled()
    }

    /// Whether an executor should be at work and none is: its run was lost, maybe with messages unread.
    pub fn is_orphaned(&self) -> bool {
        !self.running && (self.needs_run() || (self.asks() && self.unread > 0))
    }

    /// Whether no run handles the newest turn any more: none is under way, parked, or lost.
    pub fn is_turn_over(&self) -> bool {
        !self.running && self.parked.is_none() && !self.is_orphaned()
    }

    /// Whether the task has ended otherwise than by its executor, and it is not known that the executor was told: the client
    /// has canceled it, or its run was given up.
    pub fn ended_otherwise(&self) -> bool {
        let is_end = match self.state() {
            TaskState::Canceled => true,
            // Also one whose run has failed by itself, until that is noted.
            TaskState::Failed => self.has_said(&self.task.status),
            _ => false,
        };
        is_end && self.run.is_some() && !self.is_end_told
    }

    /// Whether a run of the executor is under way in this process.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Whether there is nothing to wait for: the task is terminal, or waits for somebody else.
    pub fn is_settled(&self) -> bool {
        self.state().is_terminal() || self.state().is_interrupted()
    }

    fn receive(
        &mut self,
        message: Message,
        request: RunRequest,
        now: UnixMillis,
    ) -> Result<Vec<Effect>, TaskError> {
        if let Some(context_id) = &message.context_id
            && *context_id != self.task.context_id
        {
            return Err(TaskError::OtherContext { expected: self.task.context_id.clone() });
        }
        if self.has_received(&message) {
            return Ok(Vec::new());
        }
        if self.state().is_terminal() {
            return Err(TaskError::Finished(self.state()));
        }
        let message = addressed(message, &self.task.id, &self.task.context_id);
        let was_interrupted = self.state().is_interrupted();
        let mut effects = vec![self.append(LogEntry::Message(message.clone()))];
        if was_interrupted {
            effects.push(self.enter(TaskState::Working, None, now));
        }
        if self.running {
            self.latest = Some(request);
            effects.push(Effect::Offer(message));
        } else if let Some(park) = &self.parked {
            let wakes = park.or_message;
            self.latest = Some(request);
            if wakes {
                effects.extend(self.unpark(WokenBy::Message, now));
            }
        } else {
            self.latest = None;
            effects.extend(self.begin_turn(message, request, now));
        }
        Ok(effects)
    }

    /// What the client said, oldest first.
    fn messages(&self) -> impl Iterator<Item = &Message> {
        self.task.history.iter().filter(|message| message.role == Role::User)
    }

    /// Whether this very message has come before. Another one under the same id, as careless clients
    /// send it, is another message.
    pub fn has_received(&self, message: &Message) -> bool {
        self.task.history.iter().any(|known| {
            known.message_id == message.message_id
                && known.role == message.role
                && known.parts == message.parts
                && known.metadata == message.metadata
        })
    }

    fn fail(&mut self, reason: String, now: UnixMillis) -> Effect {
        let message = self.agent_message(reason);
        self.enter(TaskState::Failed, Some(message), now)
    }

    fn produce(
        &mut self,
        event: TaskArtifactUpdateEvent,
        held: Option<HeldText>,
    ) -> Result<Vec<Effect>, TaskError> {
        let id = &event.artifact.artifact_id;
        if event.artifact.parts.is_empty() {
            return Err(TaskError::NoParts(id.clone()));
        }
        let known = self.task.artifacts.iter().any(|known| known.artifact_id == *id);
        if event.append && !known {
            return Err(TaskError::UnknownArtifact(id.clone()));
        }
        let mut effects: Vec<Effect> =
            held.map(|held| self.append(LogEntry::Held(held))).into_iter().collect();
        effects.push(self.append(LogEntry::ArtifactUpdate(event)));
        Ok(effects)
    }

    fn enter(&mut self, state: TaskState, message: Option<Message>, now: UnixMillis) -> Effect {
        self.enter_with(state, message, None, now)
    }

    fn enter_with(
        &mut self,
        state: TaskState,
        message: Option<Message>,
        metadata: Option<Metadata>,
        now: UnixMillis,
    ) -> Effect {
        let message =
            message.map(|message| addressed(message, &self.task.id, &self.task.context_id));
        let mut metadata = metadata;
        // Those who follow the task see its events alone.
        if state.is_terminal() || state.is_interrupted() {
            if !self.usage.total().is_nothing() {
                self.usage.note(&mut metadata);
            }
            if self.failed.count() > 0 {
                self.failed.note(&mut metadata);
            }
        }
        let event = TaskStatusUpdateEvent {
            task_id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            status: TaskStatus { state, message, timestamp: Some(now) },
            metadata,
        };
        self.append(LogEntry::StatusUpdate(event))
    }

    fn append(&mut self, entry: LogEntry) -> Effect {
        self.apply(entry.clone());
        Effect::Append(entry)
    }

    /// The one place where a task changes, for live entries and for replayed ones.
    fn apply(&mut self, entry: LogEntry) {
        if entry.is_event() {
            self.generation += 1;
        }
        let task = &mut self.task;
        match entry {
            LogEntry::Task(opening) => *task = opening,
            LogEntry::Message(message) => {
                // It answers what the agent said, and so comes after it.
                if task.status.state.is_interrupted() {
                    task.history.extend(task.status.message.take());
                }
                task.history.push(message);
                self.unread += 1;
            }
            LogEntry::StatusUpdate(event) => {
                // What the agent said with the former state becomes history.
                task.history.extend(task.status.message.take());
                task.status = event.status;
                self.status_generation = self.generation;
                if task.status.state.is_terminal() {
                    self.parked = None;
                }
            }
            LogEntry::ArtifactUpdate(event) => {
                self.artifact_generation = self.generation;
                let id = &event.artifact.artifact_id;
                let known = task.artifacts.iter_mut().find(|artifact| artifact.artifact_id == *id);
                match known {
                    Some(artifact) if event.append => artifact.extend(event.artifact),
                    Some(artifact) => *artifact = event.artifact,
                    None => task.artifacts.push(event.artifact),
                }
            }
            LogEntry::Run(start) => {
                let attempt = Some(start.attempt).filter(|attempt| *attempt > 1);
                set_member(&mut task.metadata, ATTEMPT, attempt.map(Into::into));
                // A further attempt is given again what came since the message that it handles.
                self.unread = self.messages().count().saturating_sub(start.message);
                if !start.resumes {
                    self.is_waiting_turn = false;
                    self.callbacks = Callbacks::default();
                    let before = self.run.as_ref();
                    self.failed.begin(before.is_some_and(|run| run.message == start.message));
                    self.failed.note(&mut self.task.metadata);
                }
                self.run = Some(start);
                self.parked = None;
            }
            LogEntry::Taken => self.unread = self.unread.saturating_sub(1),
            LogEntry::Parked(park) => {
                self.is_waiting_turn = true;
                self.parked = Some(park);
            }
            LogEntry::Ended => {
                self.is_waiting_turn = false;
                self.is_end_told = self.task.status.state.is_terminal();
            }
            LogEntry::Callback(record) => self.callbacks.add(record),
            LogEntry::Called(call) => self.callbacks.take(&call),
            // The rest of it is for the run that resumes: see `Recall`.
            LogEntry::Step(step) => {
                if let Some(usage) = step.usage {
                    let turn = self.run.as_ref().map_or(0, |run| run.message as u64);
                    self.usage.add(turn, usage);
                    self.usage.note(&mut task.metadata);
                }
                if step.has_failed() {
                    self.failed.add(&step);
                    self.failed.note(&mut task.metadata);
                }
            }
            LogEntry::Woken(_) | LogEntry::Held(_) => {}
        }
    }

    /// A message of the agent that the machine itself has cause to say. Its id is unique within the
    /// task, since a status with a reason is entered once per generation.
    fn agent_message(&self, text: String) -> Message {
        Message {
            message_id: self.message_id(self.generation + 1),
            context_id: None,
            task_id: None,
            role: Role::Agent,
            parts: vec![Part::text(text)],
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }

    /// Whether the message of the present status is the machine's own.
    fn has_said(&self, status: &TaskStatus) -> bool {
        let own = self.message_id(self.status_generation);
        status.message.as_ref().is_some_and(|message| message.message_id == own)
    }

    fn message_id(&self, generation: u64) -> String {
        format!("{}-{generation}", self.task.id)
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished(state) => write!(out, "the task is {state}, which is final"),
            Self::NotCancelable(state) => {
                write!(out, "the task is {state} and cannot be canceled any more")
            }
            Self::IllegalMove { from, to } => {
                write!(out, "a task that is {from} cannot become {to}")
            }
            Self::NoRun => out.write_str("the run is over and can say nothing more"),
            Self::OtherContext { expected } => {
                write!(out, "the task belongs to context {expected}")
            }
            Self::UnknownArtifact(id) => {
                write!(out, "artifact {id} was never begun, so nothing can be appended to it")
            }
            Self::NoParts(id) => write!(out, "artifact {id} needs at least one part"),
        }
    }
}

impl std::error::Error for TaskError {}

/// Why a run that took too long failed its task.
pub fn timed_out(timeout_ms: u64) -> String {
    format!("{TIMED_OUT} after {timeout_ms} ms")
}

/// Sets a member of metadata, or takes it away.
pub(crate) fn set_member(metadata: &mut Option<Metadata>, name: &str, value: Option<Value>) {
    let is_told = metadata.as_ref().is_some_and(|known| known.member(name).is_some());
    if value.is_none() && !is_told {
        return;
    }
    let mut members = metadata.take().unwrap_or_default().members();
    match value {
        Some(value) => {
            members.insert(name.to_owned(), value);
        }
        None => {
            members.shift_remove(name);
        }
    }
    *metadata = Some(members).filter(|members| !members.is_empty()).map(Into::into);
}

/// The member of a task's metadata that holds the number of the attempt, from the second one on.
pub const ATTEMPT: &str = "urn:a2a-edge:attempt";

/// The message as it is kept: with the ids of its task and conversation.
fn addressed(message: Message, id: &TaskId, context_id: &ContextId) -> Message {
    Message { task_id: Some(id.clone()), context_id: Some(context_id.clone()), ..message }
}
