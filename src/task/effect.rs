//! The results of an input to the task machine: effects for the session to carry out, or a refusal.

use std::fmt;

use super::{CallbackCall, LogEntry};
use a2a::model::{ContextId, Message, TaskState};

/// An effect, which the session carries out. Effects are carried out in their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append this entry to the log. Entries of one synchronous run go into one row.
    Append(LogEntry),
    /// Start a run of the executor for this message, with the parameters of
    /// [`TaskMachine::run`](super::TaskMachine::run).
    Run(Message),
    /// Offer this message to the current run.
    Offer(Message),
    /// Pass a body that was posted to a callback to the current run.
    Call(CallbackCall),
    /// Stop the run; its further events are refused.
    Stop,
}

/// The refusal of a further message of the client; nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The task is in this terminal state, which is final.
    Finished(TaskState),
    /// The message names another conversation than the task's.
    OtherContext {
        /// The task's conversation.
        expected: ContextId,
    },
}

/// The refusal of an input of the run; nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskError {
    /// The task is in this terminal state, which is final.
    Finished(TaskState),
    /// No agent may make this move.
    IllegalMove {
        /// The current state.
        from: TaskState,
        /// The requested state.
        to: TaskState,
    },
    /// The task has no run, so this input cannot come from one.
    NoRun,
    /// A chunk for an artifact that was never begun.
    UnknownArtifact(String),
    /// An artifact or chunk without parts.
    NoParts(String),
}

impl fmt::Display for TaskError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished(state) => write!(out, "the task is {state}, which is final"),
            Self::IllegalMove { from, to } => {
                write!(out, "a task that is {from} cannot become {to}")
            }
            Self::NoRun => out.write_str("the run is over and can say nothing more"),
            Self::UnknownArtifact(id) => {
                write!(out, "artifact {id} was never begun, so nothing can be appended to it")
            }
            Self::NoParts(id) => write!(out, "artifact {id} needs at least one part"),
        }
    }
}

impl std::error::Error for TaskError {}
