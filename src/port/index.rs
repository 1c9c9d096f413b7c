//! The index of tasks: what listing needs of each task, kept outside of the objects.

use async_trait::async_trait;

use a2a::model::{ContextId, TaskId, TaskState, UnixMillis};

/// Where tasks put what listing shows of them. A projection, never the truth: rows may be late.
#[async_trait(?Send)]
pub trait TaskIndex {
    /// Writes the row of a task, unless a row of the same or a newer generation is there.
    ///
    /// # Errors
    ///
    /// Why it is not known to be written. Writing the same row again does no harm.
    async fn upsert(&self, row: IndexRow) -> Result<(), String>;

    /// Removes the row of a task, if there is one.
    ///
    /// # Errors
    ///
    /// Why it is not known to be gone. Removing it again does no harm.
    async fn remove(&self, id: &TaskId) -> Result<(), String>;
}

/// A task as the index has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRow {
    /// Its id.
    pub id: TaskId,
    /// The agent that has it.
    pub agent: String,
    /// Whose it is: the id of the caller who began it, or the group of that caller.
    pub owner: String,
    /// The conversation it belongs to.
    pub context_id: ContextId,
    /// Its state.
    pub state: TaskState,
    /// When it entered that state.
    pub status_ms: UnixMillis,
    /// How long the task took, from its begin to its end, in milliseconds; none while it is not finished.
    pub duration_ms: Option<u64>,
    /// The generation that this row shows.
    pub generation: u64,
    /// The task as a JSON object, without history and artifacts.
    pub head: String,
    /// The newest messages of its history as JSON, one a line, oldest first.
    pub history: String,
}

/// How far the index has followed a task. Kept with the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    /// The newest generation that the index is known to have; 0 if none.
    pub generation: u64,
    /// How many attempts have failed since.
    pub failures: u32,
}
