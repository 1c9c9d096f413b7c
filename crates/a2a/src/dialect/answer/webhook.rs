//! Decodes webhooks: flat in 1.0, wrapped in another object before.

use super::Reader;
use crate::model::decode::Fields;
use crate::model::{AuthenticationInfo, EventFilter, Secret, TaskId, TaskPushNotificationConfig};

impl Reader {
    /// Decodes a webhook. Some servers do not name its task.
    pub(crate) fn webhook(self, fields: &mut Fields) -> Option<Webhook> {
        if !fields.has(INNER) {
            return config(fields);
        }
        // Outside of the inner object, `id` is the task id in 0.1.
        let task_id = fields.id("taskId").or_else(|| fields.id("id"));
        let name = fields.string("name").unwrap_or_default();
        let names = name.strip_prefix("tasks/").and_then(|name| name.rsplit_once(CONFIGS));
        let (named_task, named_id) = names.unzip();
        let mut config = fields.object_with(INNER, config)?;
        if config.id.is_empty() {
            config.id = named_id.unwrap_or_default().to_owned();
        }
        Some(Webhook { task_id: task_id.or_else(|| named_task.and_then(TaskId::new)), ..config })
    }

    /// Decodes the webhooks of a task.
    pub(crate) fn webhooks(self, fields: &mut Fields) -> Option<Vec<Webhook>> {
        fields.list_with("configs", |fields| self.webhook(fields))
    }
}

/// A webhook whose task the server may not name.
type Webhook = TaskPushNotificationConfig<Option<TaskId>>;

fn config(fields: &mut Fields) -> Option<Webhook> {
    let id = fields.string("id").unwrap_or_default();
    let task_id = fields.id("taskId");
    let url = fields.required_string("url");
    let token = fields.string("token").map(Secret::new);
    let authentication = fields.object_with("authentication", authentication).flatten();
    let events = fields.member("events");
    let event =
        events.as_ref().and_then(|events| events.as_str().or_else(|| only(events)?.as_str()));
    let events = match event {
        Some("status") => EventFilter::Status,
        Some("artifact" | "artifacts") => EventFilter::Artifacts,
        Some(_) | None => EventFilter::All,
    };
    let signing_secret = fields.string("signingSecret").map(Secret::new);
    let (tenant, url) = (fields.string("tenant"), url?);
    Some(Webhook { tenant, id, task_id, url, token, authentication, events, signing_secret })
}

/// The authentication for the receiver: the scheme, or the first of several schemes.
fn authentication(fields: &mut Fields) -> Option<Option<AuthenticationInfo>> {
    let scheme = fields.string("scheme").or_else(|| fields.strings("schemes").into_iter().next());
    let credentials = fields.string("credentials").map(Secret::new);
    Some(scheme.map(|scheme| AuthenticationInfo { scheme, credentials }))
}

/// The only element of a list.
fn only(list: &serde_json::Value) -> Option<&serde_json::Value> {
    match list.as_array()?.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// The member that contains the webhook before 1.0.
const INNER: &str = "pushNotificationConfig";

/// The text between the task id and the webhook id in the webhook's name, which 0.3 uses over
/// HTTP+JSON.
const CONFIGS: &str = "/pushNotificationConfigs/";
