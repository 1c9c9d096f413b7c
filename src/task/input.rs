//! The inputs of the task machine.

use super::{CallbackCall, CallbackRecord, HeldText, Park, RunRequest, StepRecord, WaitEnd};
use crate::usage::StepUsage;
use a2a::model::{Artifact, ContextId, Message, Metadata, TaskId, TaskState, UnixMillis};
use a2a_agents::Recovery;

/// The data from which a new task is created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTask {
    /// The id of the task.
    pub id: TaskId,
    /// The id of the task's conversation.
    pub context_id: ContextId,
    /// The message of the request.
    pub message: Message,
    /// The metadata of the task.
    pub metadata: Option<Metadata>,
    /// The rest of the request.
    pub request: RunRequest,
    /// The instant at which the first run began.
    pub begun: UnixMillis,
}

/// An input of the task's run, or of another system to which the run has given a callback.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The executor sets a state.
    Status {
        /// The state.
        state: TaskState,
        /// The agent's message in the status.
        message: Option<Message>,
        /// The metadata of the event.
        metadata: Option<Metadata>,
    },
    /// The executor creates, replaces or extends an artifact.
    Artifact {
        /// The artifact, or the next chunk of it.
        artifact: Artifact,
        /// True if this is a chunk of an existing artifact.
        append: bool,
        /// True if this update completes the artifact.
        last_chunk: bool,
        /// The metadata of the event.
        metadata: Option<Metadata>,
        /// The text held back from this update, for a run that repeats it.
        held: Option<HeldText>,
    },
    /// A step of the run has ended.
    StepDone(StepRecord),
    /// The run is dropped from memory and waits.
    Park(Park),
    /// A wait of the run has ended without parking the run.
    WaitOver(WaitEnd),
    /// The run creates a callback.
    CallbackMade(CallbackRecord),
    /// Another system has posted to a callback, which accepts the body.
    Called(CallbackCall),
}

/// A fact that has happened already, so no state of the task refuses it. In some states it has no effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// The run has read a message that was offered to it.
    MessageTaken,
    /// The run has used a model outside of its steps. The usage also counts if the task has ended in the meantime.
    Used(StepUsage),
    /// A parked run continues if its wait is over.
    Wake {
        /// True if this Worker has an executor for the run.
        is_served: bool,
    },
    /// The executor has handled an end that it did not choose.
    EndTold,
    /// The executor's run has ended.
    RunEnded(RunOutcome),
    /// The executor's run disappeared before its end.
    RunLost {
        /// The way in which the run was lost.
        loss: Loss,
        /// The recovery that the executor has chosen.
        recovery: Recovery,
        /// The largest number of attempts at a turn.
        max_attempts: u32,
    },
}

/// The way in which a run of the executor ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// The run returned without an error.
    Finished,
    /// The run failed for this reason, which the client may read.
    Failed(String),
}

/// The way in which a run was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The Durable Object was evicted or crashed while the run was under way.
    Interrupted,
    /// The run panicked.
    Crashed,
}
