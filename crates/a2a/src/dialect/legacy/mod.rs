//! A2A 0.1: the `tasks/send` family over JSON-RPC, and the plain pair `/a2a/tasks/…`.
//!
//! In this dialect messages have no ids, artifacts have numbers, the client chooses the id of its task, and the `contextId`
//! is the session. Other information of 1.0 is not sent.
//!
//! | module | content |
//! |---|---|
//! | `ask` | encodes the parameters of calls |
//! | `params` | decodes the parameters of calls |
//! | `part` | parts, in both directions |
//! | `view` | encodes tasks, messages and webhooks |
//! | `stream` | the frames of streams |
//! | `plain` | the plain pair |
//! | `refusal` | the codes and messages of errors |

mod ask;
mod params;
mod part;
mod plain;
mod refusal;
mod stream;
mod view;

use serde::Serialize;
use serde_json::Value;

use super::{Habits, ReadCall};
use crate::error::Error;
use crate::model::decode::read_json;
use crate::model::{
    Artifact, ContextId, Message, Metadata, Task, TaskId, TaskState, TaskStatus, UnixMillis, extend,
};
use crate::wire::Binding;
use crate::{Operation, Outcome, ShownTask};
pub(super) use ask::{asked, target};
pub(super) use plain::{error as rest_error, resource};
pub(super) use refusal::{code as error_code, data as error_data, message as error_text};
pub(super) use stream::piece;
use view::{TaskView, WebhookView};

/// See [`Dialect::decode`](super::Dialect::decode).
pub(super) fn decode(
    binding: Binding,
    operation: Operation,
    params: Value,
) -> Result<ReadCall, Error> {
    match (binding, operation) {
        (Binding::Rest, Operation::SendMessage) => plain::decode(params),
        (_, Operation::SendMessage | Operation::SendStreamingMessage) => {
            params::send(operation, params)
        }
        (
            _,
            Operation::CreateTaskPushNotificationConfig | Operation::GetTaskPushNotificationConfig,
        ) => params::webhook(operation, params),
        // The parameters of these calls are the same as in 1.0; the other operations do not exist in this dialect.
        _ => operation.decode(params).map(ReadCall::from),
    }
}

/// See [`Dialect::result`](super::Dialect::result).
pub(super) fn result(
    binding: Binding,
    habits: Habits,
    outcome: &Outcome,
) -> Result<Option<String>, Error> {
    match outcome {
        Outcome::SentTask(shown) | Outcome::Task(shown) => {
            let task: Task = read_json(&shown.json).map_err(|_| Error::Internal { task: None })?;
            task_result(binding, habits, TaskMembers::of(&task), shown)
        }
        Outcome::SentMessage(message) => {
            let status = completed(message);
            let task = TaskMembers::of_reply(message, &status);
            task_result(binding, habits, task, &ShownTask::default())
        }
        Outcome::PushConfig(webhook) => encoded(&WebhookView::of(&webhook.config), 0),
        Outcome::Deleted => Ok(None),
        Outcome::Tasks(_)
        | Outcome::PushConfigs(_)
        | Outcome::Deliveries(_)
        | Outcome::Timeline(_)
        | Outcome::Webhooks(_)
        | Outcome::ContextDeleted(_)
        | Outcome::Card(_) => Err(Error::Internal { task: None }),
    }
}

fn task_result(
    binding: Binding,
    habits: Habits,
    task: TaskMembers<'_>,
    shown: &ShownTask,
) -> Result<Option<String>, Error> {
    let size = shown.json.len();
    let view = match binding {
        Binding::Rest => return encoded(&plain::PlainTask::of(task, shown.created), size),
        Binding::JsonRpc => TaskView::of(task),
    };
    if habits.status_history {
        encoded(&view.with_statuses(&shown.statuses), size)
    } else {
        encoded(&view, size)
    }
}

/// See [`Dialect::notification`](super::Dialect::notification). The body is the task, with the kind of the event.
pub(super) fn notification(event: &str, task: &Task, now: UnixMillis) -> Option<String> {
    let is_artifact = event.starts_with(r#"{"artifactUpdate""#);
    let (kind, timestamp) = if is_artifact {
        ("artifact", now)
    } else {
        ("status", task.status.timestamp.unwrap_or(now))
    };
    json(&TaskView::of(TaskMembers::of(task)).of_event(kind, timestamp), event.len())
}

/// The members of a task that this dialect sends.
#[derive(Clone, Copy)]
struct TaskMembers<'a> {
    id: &'a str,
    context_id: Option<&'a ContextId>,
    status: &'a TaskStatus,
    artifacts: &'a [Artifact],
    history: &'a [Message],
    metadata: Option<&'a Metadata>,
}

impl<'a> TaskMembers<'a> {
    fn of(task: &'a Task) -> Self {
        let Task { id, context_id, status, artifacts, history, metadata } = task;
        let (id, context_id) = (id.as_str(), context_id.as_ref());
        Self { id, context_id, status, artifacts, history, metadata: metadata.as_ref() }
    }

    /// A message in place of a task, as the completed task that clients of this dialect expect, with this status.
    fn of_reply(message: &'a Message, status: &'a TaskStatus) -> Self {
        let id = message.task_id.as_ref().map_or(message.message_id.as_str(), TaskId::as_str);
        let context_id = message.context_id.as_ref();
        Self { id, context_id, status, artifacts: &[], history: &[], metadata: None }
    }
}

/// The status of a task with this message as its result.
fn completed(message: &Message) -> TaskStatus {
    TaskStatus { state: TaskState::Completed, message: Some(message.clone()), timestamp: None }
}

fn encoded<T: Serialize>(view: &T, size: usize) -> Result<Option<String>, Error> {
    json(view, size).map(Some).ok_or(Error::Internal { task: None })
}

/// The JSON of a value; `size` is its approximate size in bytes.
fn json<T: Serialize>(value: &T, size: usize) -> Option<String> {
    extend(String::with_capacity(size), value).ok()
}

/// The fields of calls that have another name than in 1.0: the beginning of their path in 1.0, and in this dialect.
pub(super) const FIELD_NAMES: &[(&str, &str)] = &[
    ("configuration.taskPushNotificationConfig", "pushNotification"),
    ("configuration.acceptedOutputModes", "acceptedOutputModes"),
    ("message.contextId", "sessionId"),
    ("url", "pushNotificationConfig.url"),
];
