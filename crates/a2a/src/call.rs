//! The operations by name, and decoded calls of them, whatever binding they came through.

use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::model::AgentCapabilities;
use crate::model::decode::{Decode, Fields, decode_with};
use crate::model::{
    CancelTaskRequest, GetTaskRequest, ListPushNotificationConfigsRequest, ListTasksRequest,
    PushNotificationConfigRequest, RedeliverRequest, SendMessageRequest, SubscribeToTaskRequest,
    TaskId, TaskPushNotificationConfig,
};

/// The operations of A2A 1.0 (spec §3.1), and two of the extension
/// [`WEBHOOKS_EXTENSION`](crate::model::WEBHOOKS_EXTENSION).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// SendMessage (§3.1.1).
    SendMessage,
    /// SendStreamingMessage (§3.1.2).
    SendStreamingMessage,
    /// GetTask (§3.1.3).
    GetTask,
    /// ListTasks (§3.1.4).
    ListTasks,
    /// CancelTask (§3.1.5).
    CancelTask,
    /// SubscribeToTask (§3.1.6).
    SubscribeToTask,
    /// CreateTaskPushNotificationConfig (§3.1.7).
    CreateTaskPushNotificationConfig,
    /// GetTaskPushNotificationConfig (§3.1.8).
    GetTaskPushNotificationConfig,
    /// ListTaskPushNotificationConfigs (§3.1.9).
    ListTaskPushNotificationConfigs,
    /// DeleteTaskPushNotificationConfig (§3.1.10).
    DeleteTaskPushNotificationConfig,
    /// ListTaskPushNotificationDeliveries, of the extension.
    ListTaskPushNotificationDeliveries,
    /// RedeliverTaskPushNotifications, of the extension.
    RedeliverTaskPushNotifications,
    /// GetExtendedAgentCard (§3.1.11).
    GetExtendedAgentCard,
}

impl Operation {
    /// The operation of this name, as the specification spells it (spec §5.3).
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "SendMessage" => Some(Self::SendMessage),
            "SendStreamingMessage" => Some(Self::SendStreamingMessage),
            "GetTask" => Some(Self::GetTask),
            "ListTasks" => Some(Self::ListTasks),
            "CancelTask" => Some(Self::CancelTask),
            "SubscribeToTask" => Some(Self::SubscribeToTask),
            "CreateTaskPushNotificationConfig" => Some(Self::CreateTaskPushNotificationConfig),
            "GetTaskPushNotificationConfig" => Some(Self::GetTaskPushNotificationConfig),
            "ListTaskPushNotificationConfigs" => Some(Self::ListTaskPushNotificationConfigs),
            "DeleteTaskPushNotificationConfig" => Some(Self::DeleteTaskPushNotificationConfig),
            "ListTaskPushNotificationDeliveries" => Some(Self::ListTaskPushNotificationDeliveries),
            "RedeliverTaskPushNotifications" => Some(Self::RedeliverTaskPushNotifications),
            "GetExtendedAgentCard" => Some(Self::GetExtendedAgentCard),
            _ => None,
        }
    }

    /// Whether an agent offers the operation; decided before its parameters are looked at.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] or [`Error::PushNotificationNotSupported`].
    pub fn check_offered(self, capabilities: &AgentCapabilities) -> Result<(), Error> {
        let (name, is_offered) = match self {
            Self::SendMessage | Self::GetTask | Self::ListTasks | Self::CancelTask => {
                return Ok(());
            }
            Self::SendStreamingMessage => ("SendStreamingMessage", capabilities.streaming),
            Self::SubscribeToTask => ("SubscribeToTask", capabilities.streaming),
            Self::GetExtendedAgentCard => {
                ("GetExtendedAgentCard", capabilities.extended_agent_card)
            }
            Self::CreateTaskPushNotificationConfig
            | Self::GetTaskPushNotificationConfig
            | Self::ListTaskPushNotificationConfigs
            | Self::DeleteTaskPushNotificationConfig
            | Self::ListTaskPushNotificationDeliveries
            | Self::RedeliverTaskPushNotifications => return check_webhooks_offered(capabilities),
        };
        if is_offered {
            return Ok(());
        }
        Err(not_offered(name))
    }

    /// Reads the parameters of a call.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`].
    pub fn decode(self, params: Value) -> Result<Call, Error> {
        match &params {
            Value::Object(members) if members.contains_key("") => {
                return Err(Error::invalid("params", "must not have a member without a name"));
            }
            Value::Object(_) => {}
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                return Err(Error::invalid("params", "must be an object"));
            }
        }
        Ok(decode_with(params, |fields| self.call(fields))?)
    }

    /// The call with these parameters.
    fn call(self, fields: &mut Fields) -> Option<Call> {
        Some(match self {
            Self::ListTasks => Call::List(Decode::decode(fields)?),
            // Of its parameters only the tenant means anything, which names the agent.
            Self::GetExtendedAgentCard => Call::Card,
            Self::SendMessage => {
                Call::Task(TaskCall::SendMessage(Box::new(Decode::decode(fields)?)))
            }
            Self::GetTask => Call::Task(TaskCall::GetTask(Decode::decode(fields)?)),
            Self::CancelTask => Call::Task(TaskCall::CancelTask(Decode::decode(fields)?)),
            Self::SendStreamingMessage => {
                Call::Follow(FollowCall::SendStreamingMessage(Box::new(Decode::decode(fields)?)))
            }
            Self::SubscribeToTask => {
                Call::Follow(FollowCall::SubscribeToTask(Decode::decode(fields)?))
            }
            Self::CreateTaskPushNotificationConfig => {
                let config = TaskPushNotificationConfig::decode(fields)?;
                // Unlike one that comes with a message, it names its task.
                if config.task_id.as_str().is_empty() {
                    fields.refuse("taskId", "is required");
                }
                WebhookCall::CreateTaskPushNotificationConfig(Box::new(config)).into()
            }
            Self::GetTaskPushNotificationConfig => {
                WebhookCall::GetTaskPushNotificationConfig(Decode::decode(fields)?).into()
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
        })
    }
}

/// A decoded call, by who can answer it.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// ListTasks: the index of tasks answers.
    List(ListTasksRequest),
    /// GetExtendedAgentCard: whoever hosts the agent answers.
    Card,
    /// The task that it is about gives one answer.
    Task(TaskCall),
    /// The task that it is about answers by a stream.
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
}

/// A call that a task answers by a stream of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum FollowCall {
    /// SendStreamingMessage.
    SendStreamingMessage(Box<SendMessageRequest>),
    /// SubscribeToTask.
    SubscribeToTask(SubscribeToTaskRequest),
}

impl Call {
    /// The message that the call brings, if it is a send.
    pub fn message(&self) -> Option<&SendMessageRequest> {
        match self {
            Self::Task(call) => call.message(),
            Self::Follow(call) => call.message(),
            Self::List(_) | Self::Card => None,
        }
    }

    /// The webhook that the call brings, if any, and the path of its parameters: empty, or with a dot at
    /// its end.
    pub fn webhook(&self) -> Option<(&'static str, &TaskPushNotificationConfig)> {
        if let Self::Task(TaskCall::Webhook(WebhookCall::CreateTaskPushNotificationConfig(
            webhook,
        ))) = self
        {
            return Some(("", webhook));
        }
        let webhook = self.message()?.configuration.task_push_notification_config.as_ref();
        webhook.map(|webhook| ("configuration.taskPushNotificationConfig.", webhook))
    }

    /// Whether an agent offers what the parameters ask for, beyond [`Operation::check_offered`].
    ///
    /// # Errors
    ///
    /// [`Error::PushNotificationNotSupported`] for a send that brings a webhook.
    pub fn check_offered(&self, capabilities: &AgentCapabilities) -> Result<(), Error> {
        self.webhook().map_or(Ok(()), |_| check_webhooks_offered(capabilities))
    }
}

impl TaskCall {
    /// The message that the call brings, if it is a send.
    pub fn message(&self) -> Option<&SendMessageRequest> {
        match self {
            Self::SendMessage(request) => Some(request),
            Self::GetTask(_) | Self::CancelTask(_) | Self::Webhook(_) => None,
        }
    }

    /// The task that the call names; `None` for a message that begins one.
    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::SendMessage(request) => request.message.task_id.as_ref(),
            Self::GetTask(request) => Some(&request.id),
            Self::CancelTask(request) => Some(&request.id),
            Self::Webhook(call) => Some(call.task_id()),
        }
    }
}

impl WebhookCall {
    /// The task that the call names.
    pub fn task_id(&self) -> &TaskId {
        match self {
            Self::CreateTaskPushNotificationConfig(config) => &config.task_id,
            Self::ListTaskPushNotificationConfigs(request) => &request.task_id,
            Self::GetTaskPushNotificationConfig(request)
            | Self::DeleteTaskPushNotificationConfig(request)
            | Self::ListTaskPushNotificationDeliveries(request) => &request.task_id,
            Self::RedeliverTaskPushNotifications(request) => &request.task_id,
        }
    }
}

impl FollowCall {
    /// The message that the call brings, if it is a send.
    pub fn message(&self) -> Option<&SendMessageRequest> {
        match self {
            Self::SendStreamingMessage(request) => Some(request),
            Self::SubscribeToTask(_) => None,
        }
    }

    /// The task that the call names; `None` for a message that begins one.
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

/// A call as it is written for the task: an object whose one member has the name of the operation.
impl Decode for TaskCall {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (name, mut params) = fields.variant()?;
        match Operation::named(&name)?.call(&mut params)? {
            Call::Task(call) => Some(call),
            Call::List(_) | Call::Card | Call::Follow(_) => None,
        }
    }
}

/// As a [`TaskCall`].
impl Decode for FollowCall {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (name, mut params) = fields.variant()?;
        match Operation::named(&name)?.call(&mut params)? {
            Call::Follow(call) => Some(call),
            Call::List(_) | Call::Card | Call::Task(_) => None,
        }
    }
}

fn check_webhooks_offered(capabilities: &AgentCapabilities) -> Result<(), Error> {
    if capabilities.push_notifications {
        return Ok(());
    }
    Err(Error::PushNotificationNotSupported)
}

fn not_offered(name: &str) -> Error {
    Error::UnsupportedOperation(format!("{name} is not offered by this agent; see its card"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_card_does_not_declare_is_refused() {
        let capabilities = AgentCapabilities { streaming: false, ..AgentCapabilities::default() };
        for (operation, code) in [
            (Operation::SendStreamingMessage, -32004),
            (Operation::SubscribeToTask, -32004),
            (Operation::GetExtendedAgentCard, -32004),
            (Operation::CreateTaskPushNotificationConfig, -32003),
            (Operation::GetTaskPushNotificationConfig, -32003),
            (Operation::ListTaskPushNotificationConfigs, -32003),
            (Operation::DeleteTaskPushNotificationConfig, -32003),
            (Operation::ListTaskPushNotificationDeliveries, -32003),
            (Operation::RedeliverTaskPushNotifications, -32003),
        ] {
            let error = operation.check_offered(&capabilities).expect_err("not declared");
            assert_eq!(error.wire().code, code, "{operation:?}");
        }
    }

    #[test]
    fn parameters_must_be_an_object_with_names() {
        for params in [json!(null), json!([]), json!("x"), json!({"": 1, "id": "t"})] {
            let error = Operation::GetTask.decode(params).expect_err("refused");
            assert_eq!(error.wire().code, -32602);
        }
    }

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
}
