//! Decodes the parameters of operations, with the names of 0.3.

use serde_json::Value;

use super::message::ReadMessage;
use super::webhook::{ReadWebhook, registered};
use crate::call::{FollowCall, TaskCall, WebhookCall};
use crate::dialect::ReadCall;
use crate::dialect::older::STATES;
use crate::error::Error;
use crate::model::decode::{Decode, Fields};
use crate::model::{
    ListPushNotificationConfigsRequest, ListTasksRequest, PushNotificationConfigRequest,
    SendMessageConfiguration, SendMessageRequest, TaskId, TaskPushNotificationConfig,
};
use crate::wire::Binding;
use crate::{Call, Operation};

/// See [`Dialect::decode`](crate::dialect::Dialect::decode).
pub(in crate::dialect) fn decode(
    binding: Binding,
    operation: Operation,
    params: Value,
) -> Result<ReadCall, Error> {
    operation.read(params, |fields| call(binding, operation, fields)).map(ReadCall::from)
}

fn call(binding: Binding, operation: Operation, fields: &mut Fields) -> Option<Call> {
    Some(match operation {
        Operation::SendMessage => {
            Call::Task(TaskCall::SendMessage(Box::new(send(binding, fields)?)))
        }
        Operation::SendStreamingMessage => {
            Call::Follow(FollowCall::SendStreamingMessage(Box::new(send(binding, fields)?)))
        }
        // The parameters of these operations are the same as in 1.0.
        Operation::GetTask
        | Operation::CancelTask
        | Operation::SubscribeToTask
        | Operation::GetExtendedAgentCard => operation.call(fields)?,
        Operation::ListTasks => Call::List(list(fields)?),
        Operation::CreateTaskPushNotificationConfig => {
            WebhookCall::CreateTaskPushNotificationConfig(Box::new(registered(fields)?)).into()
        }
        Operation::GetTaskPushNotificationConfig => {
            WebhookCall::GetTaskPushNotificationConfig(webhook(binding, fields, false)?).into()
        }
        Operation::DeleteTaskPushNotificationConfig => {
            WebhookCall::DeleteTaskPushNotificationConfig(webhook(binding, fields, true)?).into()
        }
        Operation::ListTaskPushNotificationConfigs => {
            let tenant = fields.string("tenant");
            let task_id = fields.required_id(webhook_members(binding).0)?;
            let request = ListPushNotificationConfigsRequest { tenant, task_id };
            WebhookCall::ListTaskPushNotificationConfigs(request).into()
        }
        // 0.3 has no method for these operations.
        Operation::ListTaskPushNotificationDeliveries
        | Operation::RedeliverTaskPushNotifications
        | Operation::TestTaskPushNotificationConfig
        | Operation::VerifyTaskPushNotificationSignature
        | Operation::GetTaskTimeline
        | Operation::DeleteTask
        | Operation::DeleteContext
        | Operation::ListWebhooks => return None,
    })
}

/// A message to send.
fn send(binding: Binding, fields: &mut Fields) -> Option<SendMessageRequest> {
    let tenant = fields.string("tenant");
    // The second name is the name of the field in the proto.
    let name = if fields.has("request") { "request" } else { "message" };
    let message = fields.required_object(name);
    let configuration = fields.object("configuration");
    let metadata = fields.metadata("metadata");
    let ReadMessage(message) = message?;
    let configuration = configuration.map(|read: Configuration| read.meant(binding));
    let configuration = configuration.unwrap_or_default();
    Some(SendMessageRequest { tenant, message, configuration, metadata })
}

/// The configuration of a send.
struct Configuration {
    accepted_output_modes: Vec<String>,
    history_length: Option<i32>,
    blocking: Option<bool>,
    webhook: Option<TaskPushNotificationConfig<Option<TaskId>>>,
}

impl Decode for Configuration {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let is_proto = fields.has("pushNotification");
        let webhook = if is_proto { "pushNotification" } else { "pushNotificationConfig" };
        Some(Self {
            accepted_output_modes: fields.strings("acceptedOutputModes"),
            history_length: fields.count("historyLength"),
            blocking: fields.boolean("blocking"),
            webhook: fields.object(webhook).map(|ReadWebhook(webhook)| webhook),
        })
    }
}

impl Configuration {
    /// The configuration of 1.0 with the same meaning. ProtoJSON omits `false` and 0, so over HTTP+JSON a missing `blocking`
    /// is `false`, and a history length of 0 counts as not set.
    fn meant(self, binding: Binding) -> SendMessageConfiguration {
        let (blocking, history_length) = match binding {
            Binding::JsonRpc => (self.blocking.unwrap_or(true), self.history_length),
            Binding::Rest => {
                let length = self.history_length.filter(|length| *length > 0);
                (self.blocking.unwrap_or(false), length)
            }
        };
        SendMessageConfiguration {
            accepted_output_modes: self.accepted_output_modes,
            history_length,
            return_immediately: !blocking,
            task_push_notification_config: self.webhook,
        }
    }
}

/// Decodes the task and the webhook of a request. Over JSON-RPC, if not `is_required`, the webhook may be missing: the
/// request then concerns the first webhook of the task.
fn webhook(
    binding: Binding,
    fields: &mut Fields,
    is_required: bool,
) -> Option<PushNotificationConfigRequest> {
    let (task, webhook) = webhook_members(binding);
    let tenant = fields.string("tenant");
    let task_id = fields.required_id(task);
    let id = if is_required {
        fields.required_string(webhook)
    } else {
        Some(fields.string(webhook).unwrap_or_default())
    };
    Some(PushNotificationConfigRequest { tenant, task_id: task_id?, id: id? })
}

/// The names of the members for the task and its webhook. Over HTTP+JSON they are the names for the ids in the path.
fn webhook_members(binding: Binding) -> (&'static str, &'static str) {
    match binding {
        Binding::JsonRpc => ("id", "pushNotificationConfigId"),
        Binding::Rest => ("taskId", "id"),
    }
}

/// Decodes the request for a list of tasks. The specification of 0.3 does not define it; this is the form of the Go SDK.
fn list(fields: &mut Fields) -> Option<ListTasksRequest> {
    let status = fields.enumeration("status", &STATES);
    let after = fields.timestamp("lastUpdatedAfter");
    let request = ListTasksRequest::decode(fields)?;
    let after = after.or(request.status_timestamp_after);
    Some(ListTasksRequest { status, status_timestamp_after: after, ..request })
}
