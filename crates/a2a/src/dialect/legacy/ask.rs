//! Encodes calls in the form of this dialect's clients.

use serde::Serialize;

use super::super::older;
use super::view::{ConfigView, MessageView, WebhookView};
use crate::dialect::v0_3;
use crate::model::{Message, Metadata, SendMessageRequest, TaskId, encode};
use crate::wire::{Binding, percent};
use crate::{Call, FollowCall, TaskCall, WebhookCall};

/// See [`Dialect::asked`](crate::dialect::Dialect::asked).
pub(in crate::dialect) fn asked(binding: Binding, call: &Call) -> serde_json::Result<String> {
    match (binding, call) {
        (Binding::Rest, Call::Task(TaskCall::SendMessage(request))) => {
            encode(&PlainSend::of(request))
        }
        (
            _,
            Call::Task(TaskCall::SendMessage(request))
            | Call::Follow(FollowCall::SendStreamingMessage(request)),
        ) => encode(&SendView::of(request)),
        (_, Call::Task(TaskCall::Webhook(call))) => match call {
            WebhookCall::CreateTaskPushNotificationConfig(webhook) => {
                encode(&WebhookView::of(webhook))
            }
            other => encode(&Named { id: other.task_id() }),
        },
        // The parameters of these calls are the same as in 0.3.
        (_, call) => v0_3::asked(Binding::JsonRpc, call),
    }
}

/// See [`Dialect::target`](crate::dialect::Dialect::target). The plain pair begins tasks and reads them; it has no path for
/// a message to an existing task.
pub(in crate::dialect) fn target(call: &Call) -> Option<(&'static str, String)> {
    let (verb, resource) = match call {
        Call::Task(TaskCall::SendMessage(request)) if request.message.task_id.is_none() => {
            ("POST", "send".to_owned())
        }
        Call::Task(TaskCall::GetTask(request)) => ("GET", percent::encode(request.id.as_str())),
        _ => return None,
    };
    Some((verb, format!("{}/tasks/{resource}", older::LEGACY_PREFIX)))
}

/// A call whose only parameter is a task.
#[derive(Serialize)]
struct Named<'a> {
    id: &'a TaskId,
}

/// A message to send, and the id that the client chooses for the task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SendView<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    message: MessageView<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    accepted_output_modes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push_notification: Option<ConfigView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

impl<'a> SendView<'a> {
    fn of(request: &'a SendMessageRequest) -> Self {
        let SendMessageRequest { message, configuration, metadata, .. } = request;
        let webhook = configuration.task_push_notification_config.as_ref();
        Self {
            id: chosen_id(message),
            session_id: session_id(message),
            message: MessageView::of(message),
            accepted_output_modes: &configuration.accepted_output_modes,
            history_length: configuration.history_length,
            push_notification: webhook.map(ConfigView::of),
            metadata: metadata.as_ref(),
        }
    }
}

/// The id of the task. For a new task, this is the id of its message, so that a message that is sent again does not begin a
/// second task.
fn chosen_id(message: &Message) -> &str {
    message.task_id.as_ref().map_or(&message.message_id, TaskId::as_str)
}

fn session_id(message: &Message) -> Option<&str> {
    message.context_id.as_ref().map(|id| id.as_str())
}

/// A message to send by the plain pair.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlainSend<'a> {
    message: MessageView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

impl<'a> PlainSend<'a> {
    fn of(request: &'a SendMessageRequest) -> Self {
        let message = &request.message;
        Self { message: MessageView::plain(message), session_id: session_id(message) }
    }
}
