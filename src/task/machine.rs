//! The task machine, which applies each input to a task.

mod parking;
mod runs;

use super::failed::FailedSteps;
use super::run::{Move, Run};
use super::transition::may_enter;
use super::{
    ATTEMPT, Effect, HeldText, Input, LogEntry, NewTask, Notice, Refusal, RunRequest, RunStart,
    StepRecord, TaskError, WokenBy, set_member,
};
use crate::usage::TaskUsage;
use a2a::model::{
    ContextId, Generation, Message, Metadata, Part, Role, TIMED_OUT, Task, TaskArtifactUpdateEvent,
    TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent, UnixMillis,
};

/// A task, and the rules for its next inputs.
///
/// Invariants: generations count 1, 2, 3 …; a terminal state is final; the task equals the [`replay`](Self::replay) of all entries ever
/// appended; while the state is active (submitted or working), the task's run is under way, parked or lost.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskMachine {
    task: Task,
    created: Option<UnixMillis>,
    generation: Generation,
    /// The generation at which the task entered its current status.
    status_generation: Generation,
    /// The generation of the newest artifact event; 0 if there was none.
    artifact_generation: Generation,
    /// The newest run.
    run: Run,
    /// True if the log has an entry that the executor has handled an end of the task which the executor did not choose.
    is_end_told: bool,
    /// The models' usage by the turns of the task.
    usage: TaskUsage,
    /// The steps that failed.
    failed: FailedSteps,
}

impl TaskMachine {
    /// Creates a task in the state submitted (generation 1) for a run that is under way, and returns the entries that open its log.
    pub fn create(new: NewTask, now: UnixMillis) -> (Self, [LogEntry; 2]) {
        let NewTask { id, context_id, message, metadata, request, begun } = new;
        let context_id = Some(context_id);
        let message = addressed(message, &id, context_id.as_ref());
        let status =
            TaskStatus { state: TaskState::Submitted, message: None, timestamp: Some(now) };
        let history = vec![message];
        let task = Task { id, context_id, status, artifacts: Vec::new(), history, metadata };
        let opening = LogEntry::Task(task.clone());
        let mut machine = Self::of(task);
        let run = LogEntry::Run(RunStart {
            attempt: 1,
            resumes: false,
            message: 1,
            begun_ms: begun.0,
            request,
        });
        machine.apply(run.clone());
        machine.run.make(Move::Enter);
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

    /// Applies one further entry of the log that the task is rebuilt from.
    pub fn follow(&mut self, entry: LogEntry) {
        self.apply(entry);
    }

    fn of(task: Task) -> Self {
        Self {
            created: task.status.timestamp,
            task,
            generation: Generation::FIRST,
            status_generation: Generation::FIRST,
            artifact_generation: Generation::NONE,
            run: Run::None,
            is_end_told: false,
            usage: TaskUsage::default(),
            failed: FailedSteps::default(),
        }
    }

    /// The client cancels the task; returns the effects for the caller to execute, in order.
    ///
    /// # Errors
    ///
    /// The state in which the task has ended otherwise. Nothing changes then.
    pub fn cancel(&mut self, now: UnixMillis) -> Result<Vec<Effect>, TaskState> {
        match self.state() {
            TaskState::Canceled => Ok(Vec::new()),
            state if state.is_terminal() => Err(state),
            _ => Ok(vec![self.enter(TaskState::Canceled, None, now), Effect::Stop]),
        }
    }

    /// Applies a notice; returns the effects for the caller to execute, in order.
    pub fn note(&mut self, notice: Notice, now: UnixMillis) -> Vec<Effect> {
        match notice {
            Notice::MessageTaken if self.run.unread() == 0 || self.state().is_terminal() => {
                Vec::new()
            }
            Notice::MessageTaken => vec![self.append(LogEntry::Taken)],
            Notice::EndTold if self.ended_otherwise() => vec![self.append(LogEntry::Ended)],
            Notice::EndTold => Vec::new(),
            Notice::Used(usage) => vec![self.append(LogEntry::Step(StepRecord::of_usage(usage)))],
            Notice::RunEnded(outcome) => self.end_run(outcome, now),
            Notice::RunLost { loss, recovery, max_attempts } => {
                self.lose_run(loss, recovery, max_attempts, now)
            }
            Notice::Wake { is_served } => self.wake(is_served, now),
        }
    }

    /// Applies an input of the run; returns the effects for the caller to execute, in order.
    ///
    /// # Errors
    ///
    /// See [`TaskError`]. A refused input changes nothing.
    pub fn step(&mut self, input: Input, now: UnixMillis) -> Result<Vec<Effect>, TaskError> {
        let state = self.state();
        match input {
            Input::Called(call) => self.called(call, now),
            Input::Park(park) => self.by_run(LogEntry::Parked(park)),
            Input::WaitOver(end) => self.by_run(LogEntry::Woken(end)),
            Input::CallbackMade(record) => self.by_run(LogEntry::Callback(record)),
            Input::StepDone(step) => self.by_run(LogEntry::Step(step)),
            Input::Status { state: to, message, metadata } => {
                self.check_run()?;
                if !may_enter(state, to) {
                    return Err(TaskError::IllegalMove { from: state, to });
                }
                Ok(vec![self.enter_with(to, message, metadata, now)])
            }
            Input::Artifact { artifact, append, last_chunk, metadata, held } => {
                self.check_run()?;
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

    /// Checks that the task accepts events and entries of its run: the task is not terminal, and the run is under way.
    fn check_run(&self) -> Result<(), TaskError> {
        self.check_unfinished()?;
        if self.run.is_active() { Ok(()) } else { Err(TaskError::NoRun) }
    }

    fn check_unfinished(&self) -> Result<(), TaskError> {
        let state = self.state();
        if state.is_terminal() { Err(TaskError::Finished(state)) } else { Ok(()) }
    }

    /// An entry that only a run under way can add.
    fn by_run(&mut self, entry: LogEntry) -> Result<Vec<Effect>, TaskError> {
        self.check_run()?;
        Ok(vec![self.append(entry)])
    }

    /// The task in its current version.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The current state of the task.
    pub fn state(&self) -> TaskState {
        self.task.status.state
    }

    /// The instant at which the task was created, if that is known.
    pub fn created(&self) -> Option<UnixMillis> {
        self.created
    }

    /// The number of the task's events, which is the generation of the newest event.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The generation of the event that set the current status.
    pub fn status_generation(&self) -> Generation {
        self.status_generation
    }

    /// The generation of the newest artifact event; 0 if there was none.
    pub fn artifact_generation(&self) -> Generation {
        self.artifact_generation
    }

    /// How the newest run began.
    pub fn run(&self) -> Option<&RunStart> {
        self.run.start()
    }

    /// The models' usage by the turns of the task.
    pub fn usage(&self) -> &TaskUsage {
        &self.usage
    }

    /// The number of failed steps whose failure did not end the task.
    pub fn failed_steps(&self) -> u64 {
        self.failed.count()
    }

    /// The newest turn, as the number of the client's message that it handles, from 1; 0 before the first turn.
    pub fn turn(&self) -> u64 {
        self.run.start().map_or(0, |run| run.message as u64)
    }

    /// The newest turn that has used a model and has ended.
    pub fn turn_to_count(&self) -> u64 {
        let newest = self.turn();
        let used = self.usage.behind(0).map(|known| known.turn);
        used.filter(|turn| *turn < newest || self.is_turn_over()).last().unwrap_or(0)
    }

    /// True if the task's state requires an executor at work.
    pub fn is_active(&self) -> bool {
        !self.is_settled()
    }

    /// True if the task requires an executor at work and has none: its run was lost, perhaps with unread messages.
    pub fn is_orphaned(&self) -> bool {
        self.run.is_lost(self.state())
    }

    /// True if the newest turn is over: its run is not under way, not parked and not lost.
    pub fn is_turn_over(&self) -> bool {
        self.run.is_over(self.state())
    }

    /// True if something other than the executor has ended the task (the client has canceled the task, or its run was given up),
    /// and the log has no entry that the executor was notified of this.
    pub fn ended_otherwise(&self) -> bool {
        let is_end = match self.state() {
            TaskState::Canceled => true,
            // This includes a task that a failed run has ended, until the log has that entry.
            TaskState::Failed => self.has_said(&self.task.status),
            _ => false,
        };
        is_end && self.run.start().is_some() && !self.is_end_told
    }

    /// True if this process executes a run of the task.
    pub fn is_running(&self) -> bool {
        self.run.is_active()
    }

    /// True if the task makes no progress by itself: it is terminal, or waits for its client.
    pub fn is_settled(&self) -> bool {
        self.state().is_terminal() || self.state().is_interrupted()
    }

    /// The client sends a further message, with the rest of its request; returns the effects for the caller to execute, in order.
    ///
    /// # Errors
    ///
    /// See [`Refusal`]. A refused message changes nothing.
    pub fn receive(
        &mut self,
        message: Message,
        request: RunRequest,
        now: UnixMillis,
    ) -> Result<Vec<Effect>, Refusal> {
        if let (Some(given), Some(expected)) = (&message.context_id, &self.task.context_id)
            && given != expected
        {
            return Err(Refusal::OtherContext { expected: expected.clone() });
        }
        if self.has_received(&message) {
            return Ok(Vec::new());
        }
        if self.state().is_terminal() {
            return Err(Refusal::Finished(self.state()));
        }
        let message = addressed(message, &self.task.id, self.task.context_id.as_ref());
        let was_interrupted = self.state().is_interrupted();
        let mut effects = vec![self.append(LogEntry::Message(message.clone()))];
        if was_interrupted {
            effects.push(self.enter(TaskState::Working, None, now));
        }
        match &mut self.run {
            Run::Active(turn) => {
                turn.latest = Some(request);
                effects.push(Effect::Offer(message));
            }
            Run::Parked(turn, park) => {
                turn.latest = Some(request);
                if park.or_message {
                    let (start, park) = (turn.start.clone(), park.clone());
                    effects.extend(self.unpark(start, &park, WokenBy::Message, now));
                }
            }
            Run::None | Run::Absent(_) | Run::Over(_) => {
                effects.extend(self.begin_turn(message, request, now));
            }
        }
        Ok(effects)
    }

    /// The client's messages, oldest first.
    fn messages(&self) -> impl Iterator<Item = &Message> {
        self.task.history.iter().filter(|message| message.role == Role::User)
    }

    /// True if the task has already received exactly this message. A different message with the same id, which some clients send, counts as
    /// a new message.
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
            message.map(|message| addressed(message, &self.task.id, self.task.context_id.as_ref()));
        let mut metadata = metadata;
        // Followers of the task receive only events, so the event that ends or interrupts the task contains this metadata.
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
            // No status is earlier than the one before it, even if the clock goes backwards: the index relies on that.
            status: TaskStatus {
                state,
                message,
                timestamp: Some(now.max(self.task.status.instant())),
            },
            metadata,
        };
        self.append(LogEntry::StatusUpdate(event))
    }

    fn append(&mut self, entry: LogEntry) -> Effect {
        self.apply(entry.clone());
        Effect::Append(entry)
    }

    /// Changes the task by one entry. Live and replayed entries both pass here, and nothing else changes the task.
    fn apply(&mut self, entry: LogEntry) {
        if entry.is_event() {
            self.generation = self.generation.next();
        }
        let task = &mut self.task;
        match entry {
            LogEntry::Task(opening) => *task = opening,
            LogEntry::Message(message) => {
                // The message answers the agent's message, so it follows that in the history.
                if task.status.state.is_interrupted() {
                    task.history.extend(task.status.message.take());
                }
                task.history.push(message);
                if let Some(turn) = self.run.turn_mut() {
                    turn.unread += 1;
                }
            }
            LogEntry::StatusUpdate(event) => {
                // The agent's message in the former status moves to the history.
                task.history.extend(task.status.message.take());
                task.status = event.status;
                self.status_generation = self.generation;
                if task.status.state.is_terminal() {
                    self.run.make(Move::TaskEnd);
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
                if !start.resumes {
                    let repeats = |run: &RunStart| run.message == start.message;
                    self.failed.begin(self.run.start().is_some_and(repeats));
                    self.failed.note(&mut task.metadata);
                }
                // A further attempt receives again the messages that arrived after the message that the turn handles.
                let unread = self.messages().count().saturating_sub(start.message);
                self.run.make(Move::Begin(start, unread));
            }
            LogEntry::Taken => {
                if let Some(turn) = self.run.turn_mut() {
                    turn.unread = turn.unread.saturating_sub(1);
                }
            }
            LogEntry::Parked(park) => self.run.make(Move::Park(park)),
            LogEntry::Ended if task.status.state.is_terminal() => self.is_end_told = true,
            LogEntry::Ended => self.run.make(Move::End),
            LogEntry::Callback(record) => {
                if let Some(turn) = self.run.turn_mut() {
                    turn.callbacks.add(record);
                }
            }
            LogEntry::Called(call) => {
                if let Some(turn) = self.run.turn_mut() {
                    turn.callbacks.take(&call);
                }
            }
            // The rest of the entry is read by a run that resumes: see `Recall`.
            LogEntry::Step(mut step) => {
                if let Some(usage) = step.usage.take() {
                    let turn = self.run.start().map_or(0, |run| run.message as u64);
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

    /// A message of the agent that the machine itself writes. Its id is unique within the task, since the task enters a status with a
    /// reason once per generation.
    fn agent_message(&self, text: String) -> Message {
        Message {
            message_id: self.message_id(self.generation.next()),
            context_id: None,
            task_id: None,
            role: Role::Agent,
            parts: vec![Part::text(text)],
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }

    /// True if the machine has written the message of the current status.
    fn has_said(&self, status: &TaskStatus) -> bool {
        let own = self.message_id(self.status_generation);
        status.message.as_ref().is_some_and(|message| message.message_id == own)
    }

    fn message_id(&self, generation: Generation) -> String {
        format!("{}-{generation}", self.task.id)
    }
}

/// The reason given when a run that exceeded its time fails its task.
pub fn timed_out(timeout_ms: u64) -> String {
    format!("{TIMED_OUT} after {timeout_ms} ms")
}

/// The message as the task stores it: with the ids of its task and conversation.
fn addressed(message: Message, id: &TaskId, context_id: Option<&ContextId>) -> Message {
    Message { task_id: Some(id.clone()), context_id: context_id.cloned(), ..message }
}
