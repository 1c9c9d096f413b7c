//! Decodes and encodes webhooks of 0.3, which are two nested objects, while 1.0 has one object.

use serde::Serialize;

use super::super::older::SchemesView;
use super::Shape;
use crate::model::decode::{Decode, Fields};
use crate::model::{AuthenticationInfo, Secret, TaskId, TaskPushNotificationConfig, webhook_id};

/// The inner object: a webhook without its task.
pub(super) struct ReadWebhook(pub(super) TaskPushNotificationConfig<Option<TaskId>>);

impl Decode for ReadWebhook {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let authentication = fields.object("authentication").and_then(|Schemes(info)| info);
        TaskPushNotificationConfig::read(fields, authentication).map(Self)
    }
}

/// The authentication for a receiver: the first of its schemes.
struct Schemes(Option<AuthenticationInfo>);

impl Decode for Schemes {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let mut schemes = fields.strings("schemes").into_iter();
        match schemes.next() {
            Some(first) => AuthenticationInfo::read(fields, "schemes[0]", Some(first)).map(Some),
            None if fields.has("credentials") => {
                fields.refuse("schemes", "needs the scheme that the credentials are for");
                None
            }
            None => Some(None),
        }
        .map(Self)
    }
}

/// Decodes the webhook that a request registers, with its task. Over HTTP+JSON the webhook may be wrapped in
/// another object, next to its id.
pub(super) fn registered(fields: &mut Fields) -> Option<TaskPushNotificationConfig> {
    let tenant = fields.string("tenant");
    let task_id = fields.required_id("taskId");
    let id = webhook_id(fields, "configId");
    let webhook = if fields.has("config") {
        fields.object("config").map(|Config(webhook)| webhook)
    } else {
        fields.required_object("pushNotificationConfig")
    };
    let ReadWebhook(webhook) = webhook?;
    let webhook = webhook.of_task(task_id?);
    let id = if id.is_empty() { webhook.id } else { id };
    Some(TaskPushNotificationConfig { tenant, id, ..webhook })
}

/// A webhook as a member of another object. The `name` of the object repeats the path.
struct Config(ReadWebhook);

impl Decode for Config {
    fn decode(fields: &mut Fields) -> Option<Self> {
        fields.required_object("pushNotificationConfig").map(Self)
    }
}

/// The encoded form of a webhook.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    push_notification_config: InnerView<'a>,
}

#[derive(Serialize)]
pub(super) struct InnerView<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<SchemesView<'a>>,
}

impl<'a> WebhookView<'a> {
    pub(super) fn new(shape: Shape, webhook: &'a TaskPushNotificationConfig) -> Self {
        let TaskPushNotificationConfig { id, task_id, .. } = webhook;
        let (task_id, name) = match shape {
            Shape::Kind => (Some(task_id), None),
            Shape::Proto { .. } => {
                (None, Some(format!("tasks/{task_id}/pushNotificationConfigs/{id}")))
            }
        };
        Self { task_id, name, push_notification_config: InnerView::of(webhook) }
    }
}

impl<'a> InnerView<'a> {
    pub(super) fn of<T>(webhook: &'a TaskPushNotificationConfig<T>) -> Self {
        let TaskPushNotificationConfig { id, url, token, authentication, .. } = webhook;
        let authentication = authentication.as_ref().map(SchemesView::of);
        Self { id, url, token: token.as_ref(), authentication }
    }
}
