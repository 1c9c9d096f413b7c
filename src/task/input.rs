//! What may happen to a task: the inputs of the machine.

use super::{CallbackCall, CallbackRecord, HeldText, Park, RunRequest, StepRecord, WaitEnd};
use crate::usage::StepUsage;
use a2a::model::{Artifact, ContextId, Message, Metadata, TaskId, TaskState, UnixMillis};
use a2a_agents::Recovery;

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
