//! Webhooks of a task (spec §4.3): what a client registers, and what it asks about them.

use std::fmt;

use serde::Serialize;

use super::TaskId;
use super::decode::{Decode, Fields};

/// A webhook of a task (spec §4.3.1): the request that creates it and every answer that shows it.
///
/// `events` and `signing_secret` belong to the extension [`WEBHOOKS_EXTENSION`]. They are taken from any
/// client, and shown to those that name the extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskPushNotificationConfig {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Its id, unique in its task; empty in a request that leaves it to us.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The task; empty in a request that comes with a message.
    #[serde(skip_serializing_if = "is_unset")]
    pub task_id: TaskId,
    /// Where notifications go.
    pub url: String,
    /// What the receiver is told to know them by. A secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
    /// How to authenticate with the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
    /// Which events it gets.
    #[serde(skip_serializing_if = "EventFilter::is_all")]
    pub events: EventFilter,
    /// What notifications are signed with, in the form `whsec_` and base64. A secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_secret: Option<Secret>,
}

/// How to authenticate with a receiver of notifications (spec §4.3.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationInfo {
    /// An HTTP authentication scheme, as `Bearer`.
    pub scheme: String,
    /// What goes behind it. A secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Secret>,
}

/// A text that is not to be seen in logs: it shows only when it is asked for by name, or serialized.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("…")
    }
}

/// Which events a webhook gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EventFilter {
    /// Every event.
    #[default]
    All,
    /// The task as it was created, and status changes.
    Status,
    /// Artifacts.
    Artifacts,
}

fn is_unset(id: &TaskId) -> bool {
    id.as_str().is_empty()
}

impl EventFilter {
    /// Whether nothing is filtered.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// The parameters of Get- and DeleteTaskPushNotificationConfig (spec §3.1.8, §3.1.10), and of the
/// listing of deliveries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushNotificationConfigRequest {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: TaskId,
    /// The webhook.
    pub id: String,
}

/// The parameters of ListTaskPushNotificationConfigs (spec §3.1.9). A task has so few that every answer
/// is complete: the page size and token of a request are not needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListPushNotificationConfigsRequest {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: TaskId,
}

/// The parameters of RedeliverTaskPushNotifications (extension [`WEBHOOKS_EXTENSION`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RedeliverRequest {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: TaskId,
    /// The webhook.
    pub id: String,
    /// The generation of the first event to be sent again, from 1.
    pub from_generation: u64,
}

/// The extension under which webhooks can be filtered, looked at and sent again.
pub const WEBHOOKS_EXTENSION: &str = "urn:a2a-edge:webhooks:v1";

impl Decode for TaskPushNotificationConfig {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.string("id").unwrap_or_default();
        let task_id = TaskId::new(fields.string("taskId").unwrap_or_default());
        let url = fields.required_string("url");
        let token = fields.string("token").map(Secret::new);
        let authentication = fields.object("authentication");
        let events = fields.string("events");
        let events = match events.as_deref() {
            None | Some("all") => EventFilter::All,
            Some("status") => EventFilter::Status,
            Some("artifacts") => EventFilter::Artifacts,
            Some(_) => {
                fields.refuse("events", "must be all, status or artifacts");
                return None;
            }
        };
        let signing_secret = fields.string("signingSecret").map(Secret::new);
        let url = url?;
        Some(Self { tenant, id, task_id, url, token, authentication, events, signing_secret })
    }
}

impl Decode for AuthenticationInfo {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let scheme = fields.required_string("scheme");
        let credentials = fields.string("credentials").map(Secret::new);
        Some(Self { scheme: scheme?, credentials })
    }
}

impl Decode for PushNotificationConfigRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let task_id = fields.required_string("taskId");
        let id = fields.required_string("id");
        Some(Self { tenant, task_id: TaskId::new(task_id?), id: id? })
    }
}

impl Decode for ListPushNotificationConfigsRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let task_id = fields.required_string("taskId");
        Some(Self { tenant, task_id: TaskId::new(task_id?) })
    }
}

impl Decode for RedeliverRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let task_id = fields.required_string("taskId");
        let id = fields.required_string("id");
        let from_generation = fields.number("fromGeneration").filter(|number: &u64| *number > 0);
        if from_generation.is_none() {
            fields.refuse("fromGeneration", "must be the generation of an event, from 1");
        }
        let (task_id, id) = (TaskId::new(task_id?), id?);
        Some(Self { tenant, task_id, id, from_generation: from_generation? })
    }
}
