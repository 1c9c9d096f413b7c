//! The ids of a task: the id for clients, and the id of the task's object.

use a2a::model::TaskId;

/// The ids by which a session is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// The id of the task's object, unique on this server. It is also the id of the task, unless a client has chosen another
    /// id for the task.
    pub object: TaskId,
    /// The id that a client has chosen for the task, if the request names the task by such an id. Two callers may choose the
    /// same id.
    pub chosen: Option<TaskId>,
}

impl Ids {
    /// The id for clients of a task that begins in the session.
    pub(super) fn task(&self) -> TaskId {
        self.chosen.as_ref().unwrap_or(&self.object).clone()
    }
}

/// The ids of a task whose id no client has chosen.
impl From<TaskId> for Ids {
    fn from(id: TaskId) -> Self {
        Self { object: id, chosen: None }
    }
}
