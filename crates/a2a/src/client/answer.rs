//! Answers of other agents, translated to 1.0.

use super::{ClientError, RemoteCard};
use crate::model::{ContextDeletion, Message, Task, TaskPushNotificationConfig};

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
    /// The agent's card for this caller.
    Card(Box<RemoteCard>),
    /// The tasks of a page of a context were deleted.
    ContextDeleted(ContextDeletion),
    /// The operation succeeded and has no result.
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

/// The answer to a message (spec §3.1.1).
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    /// A task.
    Task(Task),
    /// A message, in place of a task.
    Message(Message),
}

/// A page of tasks (spec §3.1.4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// The token of the next page; empty on the last page.
    pub next_page_token: String,
    /// The number of tasks on all pages that match the filters; `None` if the server does not
    /// report it.
    pub total_size: Option<u64>,
}
