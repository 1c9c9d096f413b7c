//! Encodes calls in the form of clients of 0.3.

use serde::Serialize;

use super::view::MessageView;
use super::webhook::{InnerView, WebhookView};
use super::{Habits, Shape};
use crate::dialect::v1::ask::only_metadata;
use crate::model::{
    Metadata, SendMessageConfiguration, SendMessageRequest, TaskId, TaskPushNotificationConfig,
    encode,
};
use crate::wire::Binding;
use crate::{Call, FollowCall, TaskCall, WebhookCall};

/// See [`Dialect::asked`](crate::dialect::Dialect::asked).
pub(in crate::dialect) fn asked(binding: Binding, call: &Call) -> serde_json::Result<String> {
    match call {
        Call::Task(TaskCall::SendMessage(request))
        | Call::Follow(FollowCall::SendStreamingMessage(request)) => {
            encode(&SendView::new(Shape::of(binding, Habits::default()), request))
        }
        // The path contains the other parameters.
        Call::Task(TaskCall::CancelTask(request)) if binding == Binding::Rest => {
            only_metadata(request.metadata.as_ref())
        }
        Call::Task(TaskCall::CancelTask(request)) => {
            let metadata = request.metadata.as_ref();
            encode(&Named { metadata, ..Named::task(&request.id) })
        }
        Call::Task(TaskCall::GetTask(request)) => {
            let history_length = request.history_length;
            encode(&Named { history_length, ..Named::task(&request.id) })
        }
        Call::Follow(FollowCall::SubscribeToTask(request)) => encode(&Named::task(&request.id)),
        Call::Task(TaskCall::Webhook(call)) => asked_of_webhook(binding, call),
        // 0.3 has neither a list of tasks nor a timeline nor a deletion.
        Call::Card
        | Call::List(_)
        | Call::Webhooks(_)
        | Call::Context(_)
        | Call::Task(TaskCall::GetTaskTimeline(_) | TaskCall::DeleteTask(_)) => Ok("{}".to_owned()),
    }
}

fn asked_of_webhook(binding: Binding, call: &WebhookCall) -> serde_json::Result<String> {
    let task = Named::task(call.task_id());
    match call {
        WebhookCall::CreateTaskPushNotificationConfig(webhook) => match binding {
            Binding::JsonRpc => encode(&WebhookView::new(Shape::Kind, webhook)),
            Binding::Rest => encode(&Registered::new(webhook)),
        },
        WebhookCall::GetTaskPushNotificationConfig(request)
        | WebhookCall::DeleteTaskPushNotificationConfig(request)
        | WebhookCall::ListTaskPushNotificationDeliveries(request)
        | WebhookCall::TestTaskPushNotificationConfig(request) => {
            encode(&Named { push_notification_config_id: &request.id, ..task })
        }
        WebhookCall::ListTaskPushNotificationConfigs(_)
        | WebhookCall::RedeliverTaskPushNotifications(_)
        | WebhookCall::VerifyTaskPushNotificationSignature(_) => encode(&task),
    }
}

/// The parameters of a call about a task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Named<'a> {
    id: &'a TaskId,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<i32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    push_notification_config_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

impl<'a> Named<'a> {
    fn task(id: &'a TaskId) -> Self {
        Self { id, history_length: None, push_notification_config_id: "", metadata: None }
    }
}

/// A message to send.
#[derive(Serialize)]
struct SendView<'a> {
    message: MessageView<'a>,
    configuration: ConfigurationView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

/// The configuration of a send. Without `blocking` servers behave differently, and some refuse a configuration without
/// output modes (0.2), so both are always sent; an empty list means any mode.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigurationView<'a> {
    accepted_output_modes: &'a [String],
    blocking: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push_notification_config: Option<InnerView<'a>>,
    /// The name of `push_notification_config` in the proto.
    #[serde(skip_serializing_if = "Option::is_none")]
    push_notification: Option<InnerView<'a>>,
}

impl<'a> SendView<'a> {
    fn new(shape: Shape, request: &'a SendMessageRequest) -> Self {
        let SendMessageConfiguration {
            accepted_output_modes,
            history_length,
            return_immediately,
            task_push_notification_config,
        } = &request.configuration;
        let webhook = task_push_notification_config.as_ref().map(InnerView::of);
        let (push_notification_config, push_notification) = match shape {
            Shape::Kind => (webhook, None),
            Shape::Proto { .. } => (None, webhook),
        };
        Self {
            message: MessageView::new(shape, &request.message),
            configuration: ConfigurationView {
                accepted_output_modes,
                blocking: !return_immediately,
                history_length: *history_length,
                push_notification_config,
                push_notification,
            },
            metadata: request.metadata.as_ref(),
        }
    }
}

/// A webhook to register over HTTP+JSON, in the form of the Python and Go SDKs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Registered<'a> {
    parent: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    config_id: &'a str,
    config: WebhookView<'a>,
}

impl<'a> Registered<'a> {
    fn new(webhook: &'a TaskPushNotificationConfig) -> Self {
        Self {
            parent: format!("tasks/{}", webhook.task_id),
            config_id: &webhook.id,
            config: WebhookView::new(Shape::Proto { single_base64: false }, webhook),
        }
    }
}
