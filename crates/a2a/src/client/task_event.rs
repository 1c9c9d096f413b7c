//! One event of a stream.

use crate::model::StreamResponse;

/// An event of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEvent {
    /// The content of the event.
    pub event: StreamResponse,
    /// The id that the server has sent with the event (SSE `id`), after which a stream can
    /// continue.
    pub id: Option<String>,
}
