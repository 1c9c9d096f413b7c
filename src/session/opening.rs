//! What opens a session, and why none can be opened.

use std::fmt;

use crate::port::StoreError;

/// What opens a session, and what is known by that of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A request. There may be a task, and the alarm may be set.
    ByRequest,
    /// The alarm. There may be a task, and the alarm is not set any more.
    ByAlarm,
    /// A send to an object that nobody has asked anything before: it holds nothing, and its alarm is not set. If that
    /// is wrong, storing fails, and nothing is lost.
    New,
}

/// Why no agent can run for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAgent {
    /// This Worker does not have it any more. A run that was under way fails.
    Missing,
    /// Its executor could not be made. A run that was under way waits for a Worker that can make it.
    Unusable,
}

/// Why a session cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// Storage did not give the task.
    Store(StoreError),
    /// The task has to go on, and the executor of its agent, whose slug this is, could not be made.
    AgentUnusable(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(out),
            Self::AgentUnusable(slug) => {
                write!(out, "the executor of the agent {slug} could not be made")
            }
        }
    }
}

impl std::error::Error for OpenError {}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
