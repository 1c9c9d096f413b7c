//! The reasons why a session cannot be opened.

use std::fmt;

use crate::port::StoreError;

/// The reason why no executor can run for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAgent {
    /// This Worker does not have the agent any more. An interrupted run fails.
    Missing,
    /// The agent's executor could not be made. An interrupted run waits for a deploy that can make it.
    Unusable,
}

/// The reason why a session cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The task could not be read from storage.
    Store(StoreError),
    /// The task has to be resumed, and the executor of its agent (this slug) could not be made.
    AgentUnusable(String),
    /// The visitor must not see the task. The answer to the visitor is that the task does not exist.
    Denied,
}

impl fmt::Display for OpenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(out),
            Self::AgentUnusable(slug) => {
                write!(out, "the executor of the agent {slug} could not be made")
            }
            Self::Denied => out.write_str("the task is not the visitor's"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
