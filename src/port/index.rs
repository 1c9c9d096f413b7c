//! The index of tasks: the data of each task for listings, stored outside of the objects.

use async_trait::async_trait;

use a2a::model::{ContextId, Generation, TaskId, TaskState, UnixMillis};

/// The index of tasks. Rows are projections of the tasks and may be late.
#[async_trait(?Send)]
pub trait TaskIndex {
    /// Writes the row of a task, unless the index has a row of the same or a newer generation.
    ///
    /// # Errors
    ///
    /// If it is not known whether the row was written. Writing the same row again changes nothing.
    async fn upsert(&self, row: IndexRow) -> Result<(), String>;

    /// Removes the row of a task, if there is one.
    ///
    /// # Errors
    ///
    /// If it is not known whether the row was removed. Removing it again changes nothing.
    async fn remove(&self, places: IndexPlaces) -> Result<(), String>;

    /// Forgets that the task with this id, of this owner, was removed for good ([`IndexPlaces::is_deleted`]).
    ///
    /// # Errors
    ///
    /// If it is not known whether that was forgotten. Forgetting it again changes nothing.
    async fn forget(&self, id: &TaskId, owner: &str) -> Result<(), String>;

    /// Gives back the place that was reserved for the task in the quotas of an owner with an agent.
    ///
    /// # Errors
    ///
    /// If it is not known whether the place was given back. It ends by itself.
    async fn release(&self, agent: &str, owner: &str) -> Result<(), String>;
}

/// The places of the index at which the row of a task may be. The index is in the order owner, agent, instant of the status, id;
/// it cannot find a row by the id alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPlaces {
    /// The id of the task.
    pub id: TaskId,
    /// The agent that has the task.
    pub agent: String,
    /// The owner of the task.
    pub owner: String,
    /// The instants of the statuses that the row may show.
    pub instants: Vec<UnixMillis>,
    /// True if a caller has deleted the task: from the removal on, the index takes no row of the task, so that a statement that is
    /// carried out late does not bring it back.
    pub is_deleted: bool,
}

/// A row of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRow {
    /// The id of the task.
    pub id: TaskId,
    /// The agent that has the task.
    pub agent: String,
    /// The owner: the id of the caller who began the task, or that caller's group.
    pub owner: String,
    /// The conversation of the task.
    pub context_id: Option<ContextId>,
    /// The state of the task.
    pub state: TaskState,
    /// The instant at which the task entered that state.
    pub status_ms: UnixMillis,
    /// The instants of earlier statuses that the index may show: this row replaces a row of the task with one of these.
    pub earlier: Vec<UnixMillis>,
    /// The time from the beginning of the task to its end, in milliseconds; `None` for an unfinished task.
    pub duration_ms: Option<u64>,
    /// The generation that this row shows.
    pub generation: Generation,
    /// The task as a JSON object, without history and artifacts.
    pub head: String,
    /// The newest messages of the task's history as JSON, one per line, oldest first.
    pub history: String,
    /// The size of the task's log, in bytes.
    pub bytes: u64,
    /// True if the row takes a place that is reserved for the task in the quotas of its owner.
    pub takes_place: bool,
}

/// The progress of the index for a task. Stored with the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    /// The newest generation that the index is known to contain; 0 if the index has no row.
    pub generation: Generation,
    /// The number of failed attempts since the last successful one.
    pub failures: u32,
}
