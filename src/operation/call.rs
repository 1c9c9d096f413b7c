//! The operations by name, and decoded calls of them, whatever binding they came through.

use serde::Serialize;
use serde_json::Value;

use crate::agent::Capabilities;
use crate::error::Error;
use crate::model::decode::{Decode, Fields, decode};
use crate::model::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest, SubscribeToTaskRequest,
};

/// The operations of A2A 1.0 (spec §3.1).
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
    /// CreateTaskPushNotificationConfig and the three that go with it (§3.1.7 to §3.1.10).
    PushNotificationConfig,
    /// GetExtendedAgentCard (§3.1.11).
    GetExtendedAgentCard,
}

impl Operation {
    /// Whether an agent offers the operation; decided before its parameters are looked at.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] or [`Error::PushNotificationNotSupported`].
    pub fn check_offered(self, capabilities: &Capabilities) -> Result<(), Error> {
        let (name, is_offered) = match self {
            Self::SendMessage | Self::GetTask | Self::ListTasks | Self::CancelTask => {
                return Ok(());
            }
            Self::SendStreamingMessage => ("SendStreamingMessage", capabilities.streaming),
            Self::SubscribeToTask => ("SubscribeToTask", capabilities.streaming),
            Self::GetExtendedAgentCard => {
                ("GetExtendedAgentCard", capabilities.extended_agent_card)
            }
            Self::PushNotificationConfig if capabilities.push_notifications => return Ok(()),
            Self::PushNotificationConfig => return Err(Error::PushNotificationNotSupported),
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
    /// [`Error::InvalidParams`], or [`Error::PushNotificationNotSupported`] for a send that asks for
    /// webhooks.
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
        match self {
            Self::SendMessage => Ok(Call::SendMessage(Box::new(send_request(params)?))),
            Self::GetTask => Ok(Call::GetTask(request(params)?)),
            Self::ListTasks => Ok(Call::ListTasks(request(params)?)),
            Self::CancelTask => Ok(Call::CancelTask(request(params)?)),
            Self::SendStreamingMessage => {
                Ok(Call::SendStreamingMessage(Box::new(send_request(params)?)))
            }
            Self::SubscribeToTask => Ok(Call::SubscribeToTask(request(params)?)),
            Self::GetExtendedAgentCard => Err(not_offered("GetExtendedAgentCard")),
            Self::PushNotificationConfig => Err(Error::PushNotificationNotSupported),
        }
    }
}

/// A decoded call of an operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Call {
    /// SendMessage.
    SendMessage(Box<SendMessageRequest>),
    /// SendStreamingMessage.
    SendStreamingMessage(Box<SendMessageRequest>),
    /// SubscribeToTask.
    SubscribeToTask(SubscribeToTaskRequest),
    /// GetTask.
    GetTask(GetTaskRequest),
    /// ListTasks. The one call that is not about a task: it is answered from the index.
    ListTasks(ListTasksRequest),
    /// CancelTask.
    CancelTask(CancelTaskRequest),
}

/// A call as it goes to the object of a task.
impl Decode for Call {
    fn decode(fields: &mut Fields) -> Option<Self> {
        if let Some(request) = fields.object("SendMessage") {
            return Some(Self::SendMessage(Box::new(request)));
        }
        if let Some(request) = fields.object("SendStreamingMessage") {
            return Some(Self::SendStreamingMessage(Box::new(request)));
        }
        if let Some(request) = fields.object("SubscribeToTask") {
            return Some(Self::SubscribeToTask(request));
        }
        if let Some(request) = fields.object("GetTask") {
            return Some(Self::GetTask(request));
        }
        fields.object("CancelTask").map(Self::CancelTask)
    }
}

fn request<T: Decode>(params: Value) -> Result<T, Error> {
    Ok(decode(params)?)
}

fn send_request(params: Value) -> Result<SendMessageRequest, Error> {
    let request: SendMessageRequest = request(params)?;
    if request.configuration.task_push_notification_config.is_some() {
        return Err(Error::PushNotificationNotSupported);
    }
    Ok(request)
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
        let capabilities = Capabilities { streaming: false, ..Capabilities::default() };
        for (operation, code) in [
            (Operation::SendStreamingMessage, -32004),
            (Operation::SubscribeToTask, -32004),
            (Operation::GetExtendedAgentCard, -32004),
            (Operation::PushNotificationConfig, -32003),
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
    fn a_send_that_asks_for_webhooks_is_refused() {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
        let config = json!({"taskPushNotificationConfig": {"url": "https://example.com"}});
        let params = json!({"message": message, "configuration": config});
        assert_eq!(Operation::SendMessage.decode(params), Err(Error::PushNotificationNotSupported));
    }
}
