//! What clients ask (spec §3.1, §3.2): the parameters of each operation.

use serde::Serialize;

use super::decode::{Decode, Fields, decode_via_fields};
use super::{Message, Metadata, TaskId};

/// The parameters of SendMessage and SendStreamingMessage (spec §3.2.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageRequest {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// What is said.
    pub message: Message,
    /// How to answer.
    pub configuration: SendMessageConfiguration,
    /// Free-form data; kept as the metadata of a task that this creates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// How a send is to be answered (spec §3.2.2).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageConfiguration {
    /// Media types that the client can take; none named means any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// How much history the returned task carries, 0 or more; unset means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// Answer as soon as the task exists, instead of when it is finished or waits for somebody.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub return_immediately: bool,
    /// Whether the send carries a webhook registration.
    #[serde(skip)]
    pub has_push_notification_config: bool,
}

/// The parameters of GetTask (spec §3.1.3).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskRequest {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
    /// How much history the answer carries, 0 or more; unset means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
}

/// The parameters of CancelTask (spec §3.1.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelTaskRequest {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
    /// Free-form data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// The parameters of SubscribeToTask (spec §3.1.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeToTaskRequest {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
}

impl Decode for SubscribeToTaskRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_string("id");
        Some(Self { tenant, id: TaskId::new(id?) })
    }
}

impl Decode for SendMessageRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let message = fields.required_object("message");
        let configuration = fields.object("configuration").unwrap_or_default();
        let metadata = fields.metadata("metadata");
        Some(Self { tenant, message: message?, configuration, metadata })
    }
}

impl Decode for SendMessageConfiguration {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let push = fields.member("taskPushNotificationConfig");
        let older_push = fields.member("pushNotificationConfig");
        Some(Self {
            accepted_output_modes: fields.strings("acceptedOutputModes"),
            history_length: fields.count("historyLength"),
            return_immediately: fields.boolean("returnImmediately").unwrap_or_default(),
            has_push_notification_config: push.or(older_push).is_some(),
        })
    }
}

impl Decode for GetTaskRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_string("id");
        let history_length = fields.count("historyLength");
        Some(Self { tenant, id: TaskId::new(id?), history_length })
    }
}

impl Decode for CancelTaskRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_string("id");
        let metadata = fields.metadata("metadata");
        Some(Self { tenant, id: TaskId::new(id?), metadata })
    }
}

decode_via_fields!(
    SendMessageRequest,
    SendMessageConfiguration,
    GetTaskRequest,
    CancelTaskRequest,
    SubscribeToTaskRequest
);
