//! The ids of a task: the one that clients know, and the one that the server finds it by.

use a2a::model::TaskId;

/// What a session is opened by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// The id of the object that holds the task, or will. No two tasks of the server have the same one, and the id of a
    /// task for which no client has chosen one is the same.
    pub object: String,
    /// The id that a client has chosen for the task, if there is one and the object was asked by it. Two callers may have
    /// chosen the same one.
    pub chosen: Option<TaskId>,
}

impl Ids {
    /// The id of a task that begins in the session.
    pub(super) fn task(&self) -> TaskId {
        self.chosen.clone().unwrap_or_else(|| TaskId::new(self.object.as_str()))
    }
}

/// Of a task for which no client has chosen an id.
impl From<TaskId> for Ids {
    fn from(id: TaskId) -> Self {
        Self { object: id.as_str().to_owned(), chosen: None }
    }
}
