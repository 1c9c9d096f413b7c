//! One event of a stream.

use crate::model::StreamResponse;

/// An event of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEvent {
    /// What happened.
    pub event: StreamResponse,
    /// The id that the server gave it (SSE `id`), by which a stream can go on behind it.
    pub id: Option<String>,
}
