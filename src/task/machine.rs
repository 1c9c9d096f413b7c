//! The task machine: what each input does to a task.

use std::fmt;

use super::transition::may_enter;
use super::{LogEntry, is_event};
use crate::model::{
    Artifact, ContextId, Message, Metadata, Part, Role, Task, TaskArtifactUpdateEvent, TaskId,
    TaskState, TaskStatus, TaskStatusUpdateEvent, UnixMillis,
};

/// A task, and what may happen to it next.
///
/// Invariants: generations count 1, 2, 3 …; a terminal state is final; the task equals the
/// [`replay`](Self::replay) of all entries ever appended; while the state is active (submitted or
/// working), a run is under way or was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskMachine {
    task: Task,
    generation: u64,
    /// The generation at which the present status was entered.
    status_generation: u64,
    /// Whether a run of the executor is under way. Not part of the log: a machine that comes from
    /// storage has none.
    running: bool,
    /// Messages that came while a run was under way and that it has not taken yet.
    unread: usize,
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
    /// What the request carried as metadata.
    pub metadata: Option<Metadata>,
}

/// Something that happens to a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The client says something more.
    Message(Message),
    /// The client cancels.
    Cancel,
    /// The executor enters a state.
    Status {
        /// The state.
        state: TaskState,
        /// What the agent says with it.
        message: Option<Message>,
    },
    /// The executor begins or replaces an artifact, or adds to one.
    Artifact {
        /// The artifact, or its next chunk.
        artifact: Artifact,
        /// Whether it is a chunk of an artifact that exists.
        append: bool,
        /// Whether the artifact is complete with it.
        last_chunk: bool,
    },
    /// The run took a message that was offered to it.
    MessageTaken,
    /// The executor's run is over.
    RunEnded(RunOutcome),
}

/// How a run of the executor ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// It returned normally.
    Finished,
    /// It failed, for this reason, which the client may read.
    Failed(String),
    /// It is gone: the object was evicted or died while it was under way.
    Lost,
}

/// What the outside must do, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append this entry to the log. Entries of one synchronous run go into one row.
    Append(LogEntry),
    /// Start a run of the executor for this message.
    Run(Message),
    /// Offer this message to the run that is under way.
    Offer(Message),
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
    /// the entry that opens its log.
    pub fn create(new: NewTask, now: UnixMillis) -> (Self, LogEntry) {
        let NewTask { id, context_id, message, metadata } = new;
        let message = addressed(message, &id, &context_id);
        let status =
            TaskStatus { state: TaskState::Submitted, message: None, timestamp: Some(now) };
        let history = vec![message];
        let task = Task { id, context_id, status, artifacts: Vec::new(), history, metadata };
        let opening = LogEntry::Task(task.clone());
        let machine = Self { task, generation: 1, status_generation: 1, running: true, unread: 0 };
        (machine, opening)
    }

    /// Rebuilds a task from its log; `None` if the log does not begin with a task.
    pub fn replay(entries: impl IntoIterator<Item = LogEntry>) -> Option<Self> {
        let mut entries = entries.into_iter();
        let LogEntry::Task(task) = entries.next()? else { return None };
        let mut machine =
            Self { task, generation: 1, status_generation: 1, running: false, unread: 0 };
        for entry in entries {
            machine.apply(entry);
        }
        Some(machine)
    }

    /// Applies one input; returns what the outside must do, in order.
    ///
    /// # Errors
    ///
    /// See [`TaskError`]. A refused input changes nothing.
    pub fn step(&mut self, input: Input, now: UnixMillis) -> Result<Vec<Effect>, TaskError> {
        let state = self.state();
        match input {
            Input::Message(message) => self.receive(message, now),
            Input::Cancel if state == TaskState::Canceled => Ok(Vec::new()),
            Input::Cancel if state.is_terminal() => Err(TaskError::NotCancelable(state)),
            Input::Cancel => Ok(vec![self.enter(TaskState::Canceled, None, now), Effect::Stop]),
            Input::MessageTaken => {
                self.unread = self.unread.saturating_sub(1);
                Ok(Vec::new())
            }
            Input::RunEnded(outcome) => Ok(self.end_run(outcome, now)),
            Input::Status { .. } | Input::Artifact { .. } if state.is_terminal() => {
                Err(TaskError::Finished(state))
            }
            Input::Status { .. } | Input::Artifact { .. } if !self.running => Err(TaskError::NoRun),
            Input::Status { state: to, .. } if !may_enter(state, to) => {
                Err(TaskError::IllegalMove { from: state, to })
            }
            Input::Status { state: to, message } => Ok(vec![self.enter(to, message, now)]),
            Input::Artifact { artifact, append, last_chunk } => {
                self.produce(artifact, append, last_chunk)
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

    /// How many events it has had; that of the newest event.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The generation of the event that brought the present status.
    pub fn status_generation(&self) -> u64 {
        self.status_generation
    }

    /// Whether an executor should be at work and none is: its run was lost.
    pub fn is_orphaned(&self) -> bool {
        !self.running && !self.state().is_terminal() && !self.state().is_interrupted()
    }

    /// Whether there is nothing to wait for: the task is terminal, or waits for somebody else.
    pub fn is_settled(&self) -> bool {
        self.state().is_terminal() || self.state().is_interrupted()
    }

    fn receive(&mut self, message: Message, now: UnixMillis) -> Result<Vec<Effect>, TaskError> {
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
        let mut effects = Vec::new();
        if self.state().is_interrupted() {
            effects.push(self.enter(TaskState::Working, None, now));
        }
        effects.push(self.append(LogEntry::Message(message.clone())));
        if self.running {
            self.unread += 1;
            effects.push(Effect::Offer(message));
        } else {
            self.running = true;
            effects.push(Effect::Run(message));
        }
        Ok(effects)
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

    fn end_run(&mut self, outcome: RunOutcome, now: UnixMillis) -> Vec<Effect> {
        self.running = false;
        let unread = std::mem::take(&mut self.unread);
        if self.state().is_terminal() {
            return Vec::new();
        }
        let reason = match outcome {
            RunOutcome::Failed(reason) => reason,
            RunOutcome::Lost => "interrupted: the agent stopped while it was at work".to_owned(),
            RunOutcome::Finished if unread > 0 => return self.run_again(now),
            RunOutcome::Finished if self.state().is_interrupted() => return Vec::new(),
            RunOutcome::Finished => {
                "the agent ended its turn without finishing the task".to_owned()
            }
        };
        let message = self.agent_message(reason);
        vec![self.enter(TaskState::Failed, Some(message), now)]
    }

    fn run_again(&mut self, now: UnixMillis) -> Vec<Effect> {
        let history = &self.task.history;
        let newest = history.iter().rfind(|message| message.role == Role::User);
        let Some(message) = newest.cloned() else { return Vec::new() };
        let mut effects = Vec::new();
        if self.state().is_interrupted() {
            effects.push(self.enter(TaskState::Working, None, now));
        }
        self.running = true;
        effects.push(Effect::Run(message));
        effects
    }

    fn produce(
        &mut self,
        artifact: Artifact,
        append: bool,
        last_chunk: bool,
    ) -> Result<Vec<Effect>, TaskError> {
        if artifact.parts.is_empty() {
            return Err(TaskError::NoParts(artifact.artifact_id));
        }
        let known =
            self.task.artifacts.iter().any(|known| known.artifact_id == artifact.artifact_id);
        if append && !known {
            return Err(TaskError::UnknownArtifact(artifact.artifact_id));
        }
        let event = TaskArtifactUpdateEvent {
            task_id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            artifact,
            append,
            last_chunk,
            metadata: None,
        };
        Ok(vec![self.append(LogEntry::ArtifactUpdate(event))])
    }

    fn enter(&mut self, state: TaskState, message: Option<Message>, now: UnixMillis) -> Effect {
        let message =
            message.map(|message| addressed(message, &self.task.id, &self.task.context_id));
        let event = TaskStatusUpdateEvent {
            task_id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            status: TaskStatus { state, message, timestamp: Some(now) },
            metadata: None,
        };
        self.append(LogEntry::StatusUpdate(event))
    }

    fn append(&mut self, entry: LogEntry) -> Effect {
        self.apply(entry.clone());
        Effect::Append(entry)
    }

    /// The one place where a task changes, for live entries and for replayed ones.
    fn apply(&mut self, entry: LogEntry) {
        if is_event(&entry) {
            self.generation += 1;
        }
        let task = &mut self.task;
        match entry {
            LogEntry::Task(opening) => *task = opening,
            LogEntry::Message(message) => task.history.push(message),
            LogEntry::StatusUpdate(event) => {
                // What the agent said with the former state becomes history.
                task.history.extend(task.status.message.take());
                task.status = event.status;
                self.status_generation = self.generation;
            }
            LogEntry::ArtifactUpdate(event) => {
                let id = &event.artifact.artifact_id;
                let known = task.artifacts.iter_mut().find(|artifact| artifact.artifact_id == *id);
                match known {
                    Some(artifact) if event.append => artifact.extend(event.artifact),
                    Some(artifact) => *artifact = event.artifact,
                    None => task.artifacts.push(event.artifact),
                }
            }
        }
    }

    /// A message of the agent that the machine itself has cause to say. Its id is unique within the
    /// task, since a status with a reason is entered once per generation.
    fn agent_message(&self, text: String) -> Message {
        Message {
            message_id: format!("{}-{}", self.task.id, self.generation + 1),
            context_id: None,
            task_id: None,
            role: Role::Agent,
            parts: vec![Part::text(text)],
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
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

/// The message as it is kept: with the ids of its task and conversation.
fn addressed(message: Message, id: &TaskId, context_id: &ContextId) -> Message {
    Message { task_id: Some(id.clone()), context_id: Some(context_id.clone()), ..message }
}
