//! What other agents answer, in the words of 1.0.

use super::{ClientError, RemoteCard};
use crate::model::{Message, Task, TaskPushNotificationConfig};

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A task.
    Task(Task),
    /// A message instead of a task.
    Message(Message),
    /// A page of tasks.
    Tasks(TaskPage),
    /// A webhook.
    Webhook(Box<TaskPushNotificationConfig>),
    /// The webhooks of a task.
    Webhooks(Vec<TaskPushNotificationConfig>),
    /// The card that the agent has for the caller.
    Card(Box<RemoteCard>),
    /// Nothing: it is done.
    Done,
}

impl Answer {
    pub(super) fn task(self, operation: &'static str) -> Result<Task, ClientError> {
        match self {
            Self::Task(task) => Ok(task),
            _ => Err(ClientError::unexpected(operation)),
        }
    }

    pub(super) fn webhook(
        self,
        operation: &'static str,
    ) -> Result<TaskPushNotificationConfig, ClientError> {
        match self {
            Self::Webhook(webhook) => Ok(*webhook),
            _ => Err(ClientError::unexpected(operation)),
        }
    }
}

/// What a server answers to a message (spec §3.1.1).
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    /// A task.
    Task(Task),
    /// A message: there is no task.
    Message(Message),
}

/// A page of tasks (spec §3.1.4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Where the next page begins; empty at the end.
    pub next_page_token: String,
    /// How many tasks the filters let through on all pages; `None` if the server does not say.
    pub total_size: Option<u64>,
}
