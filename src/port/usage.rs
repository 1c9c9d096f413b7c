//! The sums of usage by caller, agent and day, stored outside of the tasks.

use async_trait::async_trait;

use crate::usage::TurnUsage;
use a2a::model::TaskId;

/// The sums of usage.
#[async_trait(?Send)]
pub trait UsageSums {
    /// Adds the usage of a turn to the sum of its caller, agent and day. Adding the same turn again changes nothing.
    ///
    /// # Errors
    ///
    /// If it is not known whether the turn was counted.
    async fn count(&self, turn: CountedTurn) -> Result<(), String>;
}

/// An ended turn with its usage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedTurn {
    /// The task of the turn.
    pub task: TaskId,
    /// The owner: the id of the caller who began the task, or that caller's group.
    pub owner: String,
    /// The agent that has the task.
    pub agent: String,
    /// The number of the turn, its time and its usage.
    pub turn: TurnUsage,
}

/// The progress of counting a task's usage. Stored with the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The newest turn that is known to be counted; 0 if no turn was counted.
    pub turn: u64,
    /// The number of failed attempts since that turn was counted.
    pub failures: u32,
}
