//! The outcomes of calls.

use std::rc::Rc;

use crate::model::{Message, ShownWebhook, TaskStatus, UnixMillis};

/// The outcome of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The result of a send: the task at the end of the wait.
    SentTask(ShownTask),
    /// The result of a send: a message in place of a task.
    SentMessage(Box<Message>),
    /// The task after the operation.
    Task(ShownTask),
    /// A page of tasks, as JSON.
    Tasks(String),
    /// A webhook of the task.
    PushConfig(Box<ShownWebhook>),
    /// All webhooks of the task.
    PushConfigs(Vec<ShownWebhook>),
    /// The task, or a webhook of the task, was deleted.
    Deleted,
    /// The results of a webhook's deliveries, as JSON.
    Deliveries(String),
    /// A page of a task's timeline, as JSON.
    Timeline(String),
    /// A page of failing webhooks, as JSON.
    Webhooks(String),
    /// The tasks of a page of a context were deleted: their number and what remains, as JSON.
    ContextDeleted(String),
    /// The agent's card for a caller, as JSON.
    Card(String),
}

impl Outcome {
    /// The generation of the task, if the outcome is one task.
    pub fn generation(&self) -> Option<u64> {
        match self {
            Self::SentTask(task) | Self::Task(task) => Some(task.generation),
            Self::SentMessage(_)
            | Self::Tasks(_)
            | Self::PushConfig(_)
            | Self::PushConfigs(_)
            | Self::Deleted
            | Self::Deliveries(_)
            | Self::Timeline(_)
            | Self::Webhooks(_)
            | Self::ContextDeleted(_)
            | Self::Card(_) => None,
        }
    }
}

/// A task in the form of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownTask {
    /// The task as JSON of 1.0.
    pub json: Rc<String>,
    /// The generation of the task in `json`.
    pub generation: u64,
    /// When the task was created, if that is known.
    pub created: Option<UnixMillis>,
    /// The past statuses of the task, oldest first, limited like the history; empty unless the
    /// [`Terms`](crate::Terms) request them.
    pub statuses: Vec<TaskStatus>,
}
