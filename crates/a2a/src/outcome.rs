//! What calls come to.

use std::rc::Rc;

use crate::model::{Message, ShownWebhook, TaskStatus, UnixMillis};

/// What an operation gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The result of a send: the task as it was when there was nothing more to wait for.
    SentTask(ShownTask),
    /// The result of a send: a message instead of a task.
    SentMessage(Box<Message>),
    /// The task as it was when the operation was done.
    Task(ShownTask),
    /// A page of tasks, as JSON.
    Tasks(String),
    /// A webhook of the task.
    PushConfig(Box<ShownWebhook>),
    /// All webhooks of the task.
    PushConfigs(Vec<ShownWebhook>),
    /// A webhook of the task is gone.
    PushConfigDeleted,
    /// How the notifications of a webhook have fared, as JSON.
    Deliveries(String),
    /// A page of what happened in a task, as JSON.
    Timeline(String),
    /// A page of webhooks in trouble, as JSON.
    Webhooks(String),
    /// The card that an agent has for a caller, as JSON.
    Card(String),
}

impl Outcome {
    /// The generation of the task that this shows, if it is one task.
    pub fn generation(&self) -> Option<u64> {
        match self {
            Self::SentTask(task) | Self::Task(task) => Some(task.generation),
            Self::SentMessage(_)
            | Self::Tasks(_)
            | Self::PushConfig(_)
            | Self::PushConfigs(_)
            | Self::PushConfigDeleted
            | Self::Deliveries(_)
            | Self::Timeline(_)
            | Self::Webhooks(_)
            | Self::Card(_) => None,
        }
    }
}

/// A task as an answer shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownTask {
    /// The task as 1.0 JSON.
    pub json: Rc<String>,
    /// The generation that it shows.
    pub generation: u64,
    /// When it was created, if that is known.
    pub created: Option<UnixMillis>,
    /// The statuses that it has had, oldest first, as many as its history may have entries; none unless the
    /// [`Terms`](crate::Terms) ask for them.
    pub statuses: Vec<TaskStatus>,
}
