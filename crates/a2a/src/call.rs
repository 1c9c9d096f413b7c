//! Decoded calls of operations, independent of the binding, grouped by the component that answers them.

use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::model::AgentCapabilities;
use crate::model::decode::{Decode, Fields, decode_with};
use crate::model::{
    CancelTaskRequest, DeleteContextRequest, DeleteTaskRequest, GetTaskRequest,
    GetTaskTimelineRequest, ListPushNotificationConfigsRequest, ListTasksRequest,
    ListWebhooksRequest, PushNotificationConfigRequest, RedeliverRequest, SendMessageRequest,
    SubscribeToTaskRequest, TaskId, TaskPushNotificationConfig, VerifySignatureRequest,
};
use crate::operation::{Operation, check_webhooks_offered};

/// A decoded call, grouped by the component that answers it.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// ListTasks: answered by the index of tasks.
    List(ListTasksRequest),
    /// ListWebhooks: answered by the list of failing webhooks.
    Webhooks(ListWebhooksRequest),
    /// DeleteContext: answered by the index and the tasks of the context.
    Context(DeleteContextRequest),
    /// GetExtendedAgentCard: answered by the host of the agent.
    Card,
    /// A call with one answer, from the task that the call names.
    Task(TaskCall),
    /// A call with a stream as its answer, from the task that the call names.
    Follow(FollowCall),
}

/// A call that a task answers once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum TaskCall {
    /// SendMessage.
    SendMessage(Box<SendMessageRequest>),
    /// GetTask.
    GetTask(GetTaskRequest),
    /// CancelTask.
    CancelTask(CancelTaskRequest),
    /// GetTaskTimeline.
    GetTaskTimeline(GetTaskTimelineRequest),
    /// DeleteTask.
    DeleteTask(DeleteTaskRequest),
    /// A call about the webhooks of the task.
    #[serde(untagged)]
    Webhook(WebhookCall),
}

/// A call about the webhooks of a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum WebhookCall {
    /// CreateTaskPushNotificationConfig.
    CreateTaskPushNotificationConfig(Box<TaskPushNotificationConfig>),
    /// GetTaskPushNotificationConfig.
    GetTaskPushNotificationConfig(PushNotificationConfigRequest),
    /// ListTaskPushNotificationConfigs.
    ListTaskPushNotificationConfigs(ListPushNotificationConfigsRequest),
    /// DeleteTaskPushNotificationConfig.
    DeleteTaskPushNotificationConfig(PushNotificationConfigRequest),
    /// ListTaskPushNotificationDeliveries.
    ListTaskPushNotificationDeliveries(PushNotificationConfigRequest),
    /// RedeliverTaskPushNotifications.
    RedeliverTaskPushNotifications(RedeliverRequest),
    /// TestTaskPushNotificationConfig.
    TestTaskPushNotificationConfig(PushNotificationConfigRequest),
    /// VerifyTaskPushNotificationSignature.
    VerifyTaskPushNotificationSignature(Box<VerifySignatureRequest>),
}

/// A call that a task answers by a stream of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum FollowCall {
    /// SendStreamingMessage.
    SendStreamingMessage(Box<SendMessageRequest>),
    /// SubscribeToTask.
    SubscribeToTask(SubscribeToTaskRequest),
}

impl Operation {
    /// Reads the parameters of a call.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`].
    pub fn decode(self, params: Value) -> Result<Call, Error> {
        self.read(params, |fields| {
            let call = self.call(fields)?;
            // Internally, an empty id means the first webhook, so clients must not send one.
            if let Call::Task(TaskCall::Webhook(WebhookCall::GetTaskPushNotificationConfig(get))) =
                &call
                && get.id.is_empty()
            {
                fields.refuse("id", "is required and must not be empty");
            }
            Some(call)
        })
    }

    /// Reads the parameters of a call in a dialect; `read` decodes them.
    pub(crate) fn read(
        self,
        params: Value,
        read: impl FnOnce(&mut Fields) -> Option<Call>,
    ) -> Result<Call, Error> {
        match &params {
            Value::Object(members) if members.contains_key("") => {
                return Err(Error::invalid("params", "must not have a member without a name"));
            }
            Value::Object(_) => {}
            // The only method whose parameters are optional (spec §9.4.8).
            Value::Null if self == Self::GetExtendedAgentCard => return Ok(Call::Card),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                return Err(Error::invalid("params", "must be an object"));
            }
        }
        Ok(decode_with(params, read)?)
    }

    /// Decodes the call of this operation from its parameters.
    pub(crate) fn call(self, fields: &mut Fields) -> Option<Call> {
        Some(match self {
            Self::ListTasks => Call::List(Decode::decode(fields)?),
            Self::ListWebhooks => Call::Webhooks(Decode::decode(fields)?),
            Self::DeleteContext => Call::Context(Decode::decode(fields)?),
            // The only parameter with a meaning is the tenant, which names the agent.
            Self::GetExtendedAgentCard => Call::Card,
            Self::SendMessage => {
                Call::Task(TaskCall::SendMessage(Box::new(Decode::decode(fields)?)))
            }
            Self::GetTask => Call::Task(TaskCall::GetTask(Decode::decode(fields)?)),
            Self::CancelTask => Call::Task(TaskCall::CancelTask(Decode::decode(fields)?)),
            Self::GetTaskTimeline => Call::Task(TaskCall::GetTaskTimeline(Decode::decode(fields)?)),
            Self::DeleteTask => Call::Task(TaskCall::DeleteTask(Decode::decode(fields)?)),
            Self::SendStreamingMessage => {
                Call::Follow(FollowCall::SendStreamingMessage(Box::new(Decode::decode(fields)?)))
            }
            Self::SubscribeToTask => {
                Call::Follow(FollowCall::SubscribeToTask(Decode::decode(fields)?))
            }
            Self::CreateTaskPushNotificationConfig => {
                let config = Decode::decode(fields)?;
                WebhookCall::CreateTaskPushNotificationConfig(Box::new(config)).into()
            }
            Self::GetTaskPushNotificationConfig => {
                let request = PushNotificationConfigRequest::decode_any(fields)?;
                WebhookCall::GetTaskPushNotificationConfig(request).into()
            }
            Self::ListTaskPushNotificationConfigs => {
                WebhookCall::ListTaskPushNotificationConfigs(Decode::decode(fields)?).into()
            }
            Self::DeleteTaskPushNotificationConfig => {
                WebhookCall::DeleteTaskPushNotificationConfig(Decode::decode(fields)?).into()
            }
            Self::ListTaskPushNotificationDeliveries => {
                WebhookCall::ListTaskPushNotificationDeliveries(Decode::decode(fields)?).into()
            }
            Self::RedeliverTaskPushNotifications => {
                WebhookCall::RedeliverTaskPushNotifications(Decode::decode(fields)?).into()
            }
            Self::TestTaskPushNotificationConfig => {
                WebhookCall::TestTaskPushNotificationConfig(Decode::decode(fields)?).into()
            }
            Self::VerifyTaskPushNotificationSignature => {
                let request = Decode::decode(fields)?;
                WebhookCall::VerifyTaskPushNotificationSignature(Box::new(request)).into()
            }
        })
    }
}

impl Call {
    /// The operation of the call.
    pub fn operation(&self) -> Operation {
        match self {
            Self::List(_) => Operation::ListTasks,
            Self::Webhooks(_) => Operation::ListWebhooks,
            Self::Context(_) => Operation::DeleteContext,
            Self::Card => Operation::GetExtendedAgentCard,
            Self::Task(call) => call.operation(),
            Self::Follow(call) => call.operation(),
        }
    }

    /// The request with the message, if the call is a send.
    pub fn message(&self) -> Option<&SendMessageRequest> {
        match self {
            Self::Task(call) => call.message(),
            Self::Follow(call) => call.message(),
            Self::List(_) | Self::Webhooks(_) | Self::Context(_) | Self::Card => None,
        }
    }

    /// The request with the message, to change it, if the call is a send.
    pub fn message_mut(&mut self) -> Option<&mut SendMessageRequest> {
        match self {
            Self::Task(TaskCall::SendMessage(request))
            | Self::Follow(FollowCall::SendStreamingMessage(request)) => Some(request),
            Self::Task(_)
            | Self::Follow(_)
            | Self::List(_)
            | Self::Webhooks(_)
            | Self::Context(_)
            | Self::Card => None,
        }
    }

    /// The tenant in the call.
    pub fn tenant(&self) -> Option<&str> {
        let tenant = match self {
            Self::List(request) => &request.tenant,
            Self::Webhooks(request) => &request.tenant,
            Self::Context(request) => &request.tenant,
            Self::Card => &None,
            Self::Task(TaskCall::SendMessage(request))
            | Self::Follow(FollowCall::SendStreamingMessage(request)) => &request.tenant,
            Self::Task(TaskCall::GetTask(request)) => &request.tenant,
            Self::Task(TaskCall::CancelTask(request)) => &request.tenant,
            Self::Task(TaskCall::GetTaskTimeline(request)) => &request.tenant,
            Self::Task(TaskCall::DeleteTask(request)) => &request.tenant,
            Self::Follow(FollowCall::SubscribeToTask(request)) => &request.tenant,
            Self::Task(TaskCall::Webhook(call)) => match call {
                WebhookCall::CreateTaskPushNotificationConfig(webhook) => &webhook.tenant,
                WebhookCall::ListTaskPushNotificationConfigs(request) => &request.tenant,
                WebhookCall::GetTaskPushNotificationConfig(request)
                | WebhookCall::DeleteTaskPushNotificationConfig(request)
                | WebhookCall::ListTaskPushNotificationDeliveries(request)
                | WebhookCall::TestTaskPushNotificationConfig(request) => &request.tenant,
                WebhookCall::RedeliverTaskPushNotifications(request) => &request.tenant,
                WebhookCall::VerifyTaskPushNotificationSignature(request) => &request.tenant,
            },
        };
        tenant.as_deref()
    }

    /// Whether the answer is a stream.
    pub fn is_stream(&self) -> bool {
        matches!(self, Self::Follow(_))
    }

    /// Whether the call sends a message that begins a task.
    pub fn begins_task(&self) -> bool {
        self.message().is_some() && self.task_id().is_none()
    }

    /// The task in the call; `None` for a call without a task.
    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::Task(call) => call.task_id(),
            Self::Follow(call) => call.task_id(),
            Self::List(_) | Self::Webhooks(_) | Self::Context(_) | Self::Card => None,
        }
    }

    /// The URL of the webhook in the call, if any, and the path of the webhook's parameters: empty, or with a dot
    /// at its end.
    pub fn webhook_url(&self) -> Option<(&'static str, &str)> {
        if let Self::Task(TaskCall::Webhook(WebhookCall::CreateTaskPushNotificationConfig(
            webhook,
        ))) = self
        {
            return Some(("", &webhook.url));
        }
        let webhook = self.message()?.configuration.task_push_notification_config.as_ref();
        webhook.map(|webhook| ("configuration.taskPushNotificationConfig.", webhook.url.as_str()))
    }

    /// Checks that an agent offers the features that the parameters need, in addition to
    /// [`Operation::check_offered`].
    ///
    /// # Errors
    ///
    /// [`Error::PushNotificationNotSupported`] for a send with a webhook.
    pub fn check_offered(&self, capabilities: &AgentCapabilities) -> Result<(), Error> {
        self.webhook_url().map_or(Ok(()), |_| check_webhooks_offered(capabilities))
    }
}

impl TaskCall {
    /// The operation of the call.
    pub fn operation(&self) -> Operation {
        match self {
            Self::SendMessage(_) => Operation::SendMessage,
            Self::GetTask(_) => Operation::GetTask,
            Self::CancelTask(_) => Operation::CancelTask,
            Self::GetTaskTimeline(_) => Operation::GetTaskTimeline,
            Self::DeleteTask(_) => Operation::DeleteTask,
            Self::Webhook(call) => call.operation(),
        }
    }

    /// The request with the message, if the call is a send.
    pub fn message(&self) -> Option<&SendMessageRequest> {
        match self {
            Self::SendMessage(request) => Some(request),
            Self::GetTask(_)
            | Self::CancelTask(_)
            | Self::GetTaskTimeline(_)
            | Self::DeleteTask(_)
            | Self::Webhook(_) => None,
        }
    }

    /// The task in the call; `None` for a message that begins a task.
    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::SendMessage(request) => request.message.task_id.as_ref(),
            Self::GetTask(request) => Some(&request.id),
            Self::CancelTask(request) => Some(&request.id),
            Self::GetTaskTimeline(request) => Some(&request.id),
            Self::DeleteTask(request) => Some(&request.id),
            Self::Webhook(call) => Some(call.task_id()),
        }
    }
}

impl WebhookCall {
    /// The operation of the call.
    pub fn operation(&self) -> Operation {
        match self {
            Self::CreateTaskPushNotificationConfig(_) => {
                Operation::CreateTaskPushNotificationConfig
            }
            Self::GetTaskPushNotificationConfig(_) => Operation::GetTaskPushNotificationConfig,
            Self::ListTaskPushNotificationConfigs(_) => Operation::ListTaskPushNotificationConfigs,
            Self::DeleteTaskPushNotificationConfig(_) => {
                Operation::DeleteTaskPushNotificationConfig
            }
            Self::ListTaskPushNotificationDeliveries(_) => {
                Operation::ListTaskPushNotificationDeliveries
            }
            Self::RedeliverTaskPushNotifications(_) => Operation::RedeliverTaskPushNotifications,
            Self::TestTaskPushNotificationConfig(_) => Operation::TestTaskPushNotificationConfig,
            Self::VerifyTaskPushNotificationSignature(_) => {
                Operation::VerifyTaskPushNotificationSignature
            }
        }
    }

    /// The task in the call.
    pub fn task_id(&self) -> &TaskId {
        match self {
            Self::CreateTaskPushNotificationConfig(config) => &config.task_id,
            Self::ListTaskPushNotificationConfigs(request) => &request.task_id,
            Self::GetTaskPushNotificationConfig(request)
            | Self::DeleteTaskPushNotificationConfig(request)
            | Self::ListTaskPushNotificationDeliveries(request)
            | Self::TestTaskPushNotificationConfig(request) => &request.task_id,
            Self::RedeliverTaskPushNotifications(request) => &request.task_id,
            Self::VerifyTaskPushNotificationSignature(request) => &request.task_id,
        }
    }
}

impl FollowCall {
    /// The operation of the call.
    pub fn operation(&self) -> Operation {
        match self {
            Self::SendStreamingMessage(_) => Operation::SendStreamingMessage,
            Self::SubscribeToTask(_) => Operation::SubscribeToTask,
        }
    }

    /// The request with the message, if the call is a send.
    pub fn message(&self) -> Option<&SendMessageRequest> {
        match self {
            Self::SendStreamingMessage(request) => Some(request),
            Self::SubscribeToTask(_) => None,
        }
    }

    /// The task in the call; `None` for a message that begins a task.
    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::SendStreamingMessage(request) => request.message.task_id.as_ref(),
            Self::SubscribeToTask(request) => Some(&request.id),
        }
    }
}

impl From<WebhookCall> for Call {
    fn from(call: WebhookCall) -> Self {
        Self::Task(TaskCall::Webhook(call))
    }
}

/// Decodes the form in which a call is sent to its task: an object with one member, named after the
/// operation.
impl Decode for TaskCall {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (name, mut params) = fields.variant()?;
        match Operation::named(&name)?.call(&mut params)? {
            Call::Task(call) => Some(call),
            Call::List(_) | Call::Webhooks(_) | Call::Context(_) | Call::Card | Call::Follow(_) => {
                None
            }
        }
    }
}

/// Decodes the same form as [`TaskCall`].
impl Decode for FollowCall {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (name, mut params) = fields.variant()?;
        match Operation::named(&name)?.call(&mut params)? {
            Call::Follow(call) => Some(call),
            Call::List(_) | Call::Webhooks(_) | Call::Context(_) | Call::Card | Call::Task(_) => {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_webhook_in_a_send_needs_an_agent_that_has_them() {
        let offered =
            AgentCapabilities { push_notifications: true, ..AgentCapabilities::default() };
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
        for name in ["taskPushNotificationConfig", "pushNotificationConfig"] {
            let config = json!({name: {"url": "https://example.com"}});
            let params = json!({"message": message, "configuration": config});
            for operation in [Operation::SendMessage, Operation::SendStreamingMessage] {
                let call = operation.decode(params.clone()).expect("a good send");
                let refused = call.check_offered(&AgentCapabilities::default());
                assert_eq!(refused, Err(Error::PushNotificationNotSupported));
                assert_eq!(call.check_offered(&offered), Ok(()));
            }
        }
        let call = Operation::SendMessage.decode(json!({"message": message})).expect("a good send");
        assert_eq!(call.check_offered(&AgentCapabilities::default()), Ok(()));
    }

    #[test]
    fn what_is_wrong_with_a_webhook_is_named_where_it_stands() {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
        let config = json!({"taskPushNotificationConfig": {"token": "\n"}});
        for (operation, params, fields) in [
            (
                Operation::SendMessage,
                json!({"message": message, "configuration": config}),
                &[
                    "configuration.taskPushNotificationConfig.url",
                    "configuration.taskPushNotificationConfig.token",
                ] as &[_],
            ),
            (Operation::CreateTaskPushNotificationConfig, json!({"taskId": "t"}), &["url"]),
            (Operation::CreateTaskPushNotificationConfig, json!({"url": "u"}), &["taskId"]),
            (Operation::GetTaskPushNotificationConfig, json!({}), &["taskId", "id"]),
            (Operation::GetTaskPushNotificationConfig, json!({"taskId": "t", "id": ""}), &["id"]),
            (Operation::ListTaskPushNotificationConfigs, json!({"id": "t"}), &["taskId"]),
            (Operation::DeleteTaskPushNotificationConfig, json!({"taskId": "t"}), &["id"]),
            (Operation::ListTaskPushNotificationDeliveries, json!({"id": ""}), &["taskId", "id"]),
            (
                Operation::RedeliverTaskPushNotifications,
                json!({"taskId": "t", "id": "c"}),
                &["fromGeneration"],
            ),
        ] {
            let Err(Error::InvalidParams(found)) = operation.decode(params) else {
                panic!("{operation:?}")
            };
            let found: Vec<&str> = found.iter().map(|found| found.field.as_str()).collect();
            assert_eq!(found, fields, "{operation:?}");
        }
    }

    #[test]
    fn parameters_must_be_an_object_with_names() {
        for params in [json!(null), json!([]), json!("x"), json!({"": 1, "id": "t"})] {
            let error = Operation::GetTask.decode(params).expect_err("refused");
            assert_eq!(error.wire().code, -32602);
        }
        assert_eq!(Operation::GetExtendedAgentCard.decode(json!(null)), Ok(Call::Card));
    }
}
