//! What callers have used in a day, summed outside of their tasks.

use async_trait::async_trait;

use crate::usage::TurnUsage;
use a2a::model::TaskId;

/// Where tasks count what their turns have used.
#[async_trait(?Send)]
pub trait UsageSums {
    /// Adds what a turn has used to the sum of its caller, agent and day. The same turn again changes nothing.
    ///
    /// # Errors
    ///
    /// Why it is not known to be counted.
    async fn count(&self, turn: CountedTurn) -> Result<(), String>;
}

/// A turn that is over, with what it has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedTurn {
    /// Its task.
    pub task: TaskId,
    /// Whose it is: the id of the caller who began it, or the group of that caller.
    pub owner: String,
    /// The agent that has it.
    pub agent: String,
    /// Which turn it is, when it was, and what it has used.
    pub turn: TurnUsage,
}

/// Up to which turn the usage of a task is counted. Kept with the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The newest turn that is known to be counted; 0 if none.
    pub turn: u64,
    /// How many attempts have failed since.
    pub failures: u32,
}
