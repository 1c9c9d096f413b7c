//! The operations by name: whether an agent offers them, and how their parameters are read.

use serde_json::Value;

use crate::error::Error;
use crate::model::decode::{Decode, Fields, decode_with};
use crate::model::{AgentCapabilities, PushNotificationConfigRequest, TaskPushNotificationConfig};
use crate::{Call, FollowCall, TaskCall, WebhookCall};

/// The operations of A2A 1.0 (spec §3.1), three of the extension [`WEBHOOKS_EXTENSION`](crate::model::WEBHOOKS_EXTENSION), and
/// one of [`TIMELINE_EXTENSION`](crate::model::TIMELINE_EXTENSION).
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
    /// GetTaskTimeline, of an extension.
    GetTaskTimeline,
    /// ListWebhooks, of the extension: those of all tasks that are in trouble.
    ListWebhooks,
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
            "GetTaskTimeline" => Some(Self::GetTaskTimeline),
            "ListWebhooks" => Some(Self::ListWebhooks),
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
            Self::SendMessage
            | Self::GetTask
            | Self::ListTasks
            | Self::CancelTask
            | Self::GetTaskTimeline => return Ok(()),
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
            | Self::RedeliverTaskPushNotifications
            | Self::ListWebhooks => return check_webhooks_offered(capabilities),
        };
        if is_offered {
            return Ok(());
        }
        Err(not_offered(name))
    }

    /// The name of the operation, as the specification spells it (spec §5.3).
    pub fn name(self) -> &'static str {
        match self {
            Self::SendMessage => "SendMessage",
            Self::SendStreamingMessage => "SendStreamingMessage",
            Self::GetTask => "GetTask",
            Self::ListTasks => "ListTasks",
            Self::CancelTask => "CancelTask",
            Self::SubscribeToTask => "SubscribeToTask",
            Self::CreateTaskPushNotificationConfig => "CreateTaskPushNotificationConfig",
            Self::GetTaskPushNotificationConfig => "GetTaskPushNotificationConfig",
            Self::ListTaskPushNotificationConfigs => "ListTaskPushNotificationConfigs",
            Self::DeleteTaskPushNotificationConfig => "DeleteTaskPushNotificationConfig",
            Self::ListTaskPushNotificationDeliveries => "ListTaskPushNotificationDeliveries",
            Self::RedeliverTaskPushNotifications => "RedeliverTaskPushNotifications",
            Self::GetTaskTimeline => "GetTaskTimeline",
            Self::ListWebhooks => "ListWebhooks",
            Self::GetExtendedAgentCard => "GetExtendedAgentCard",
        }
    }

    /// Whether an operator may carry it out on the task of somebody else: what shows a task, ends it, or lets what its owner
    /// registered go on. Nothing that speaks for the owner, or that shows or changes the owner's secrets.
    pub fn is_for_operators(self) -> bool {
        match self {
            Self::GetTask
            | Self::ListTasks
            | Self::CancelTask
            | Self::SubscribeToTask
            | Self::ListTaskPushNotificationConfigs
            | Self::ListTaskPushNotificationDeliveries
            | Self::RedeliverTaskPushNotifications
            | Self::GetTaskTimeline
            | Self::ListWebhooks => true,
            Self::SendMessage
            | Self::SendStreamingMessage
            | Self::CreateTaskPushNotificationConfig
            | Self::GetTaskPushNotificationConfig
            | Self::DeleteTaskPushNotificationConfig
            | Self::GetExtendedAgentCard => false,
        }
    }

    /// Reads the parameters of a call.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`].
    pub fn decode(self, params: Value) -> Result<Call, Error> {
        self.read(params, |fields| {
            let call = self.call(fields)?;
            // Inside, it stands for the first one.
            if let Call::Task(TaskCall::Webhook(WebhookCall::GetTaskPushNotificationConfig(get))) =
                &call
                && get.id.is_empty()
            {
                fields.refuse("id", "is required and must not be empty");
            }
            Some(call)
        })
    }

    /// Reads the parameters of a call in the words of a dialect, by `read`.
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
            // The one method whose parameters are optional (spec §9.4.8).
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

    /// The call with these parameters.
    pub(crate) fn call(self, fields: &mut Fields) -> Option<Call> {
        Some(match self {
            Self::ListTasks => Call::List(Decode::decode(fields)?),
            Self::ListWebhooks => Call::Webhooks(Decode::decode(fields)?),
            // Of its parameters only the tenant means anything, which names the agent.
            Self::GetExtendedAgentCard => Call::Card,
            Self::SendMessage => {
                Call::Task(TaskCall::SendMessage(Box::new(Decode::decode(fields)?)))
            }
            Self::GetTask => Call::Task(TaskCall::GetTask(Decode::decode(fields)?)),
            Self::CancelTask => Call::Task(TaskCall::CancelTask(Decode::decode(fields)?)),
            Self::GetTaskTimeline => Call::Task(TaskCall::GetTaskTimeline(Decode::decode(fields)?)),
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
        })
    }
}

/// Whether an agent has webhooks.
///
/// # Errors
///
/// [`Error::PushNotificationNotSupported`].
pub(crate) fn check_webhooks_offered(capabilities: &AgentCapabilities) -> Result<(), Error> {
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
    fn a_timeline_needs_nothing_to_be_declared() {
        let capabilities = AgentCapabilities::default();
        assert_eq!(Operation::GetTaskTimeline.check_offered(&capabilities), Ok(()));
        assert_eq!(Operation::named("GetTaskTimeline"), Some(Operation::GetTaskTimeline));
    }

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
            (Operation::ListWebhooks, -32003),
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
        assert_eq!(Operation::GetExtendedAgentCard.decode(json!(null)), Ok(Call::Card));
    }
}
