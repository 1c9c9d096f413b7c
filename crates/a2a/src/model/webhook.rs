//! Webhooks of a task (spec §4.3), in the form in which clients register them.

use serde::Serialize;

use super::decode::{Decode, Fields};
use super::{Base64, Secret, TaskId};

/// A webhook of a task (spec §4.3.1), in the form in which clients register it.
///
/// `events` and `signing_secret` belong to the extension [`WEBHOOKS_EXTENSION`]. They are accepted from
/// any client, but returned only to clients that request the extension.
///
/// `T` is [`TaskId`], or `Option<TaskId>` for a webhook whose task need not be named: one that is part of a message, or of an
/// answer of another server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", bound = "T: WebhookTask")]
pub struct TaskPushNotificationConfig<T = TaskId> {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The id of the webhook, unique within its task; empty in a request if the server has to generate
    /// it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The task.
    #[serde(skip_serializing_if = "WebhookTask::is_absent")]
    pub task_id: T,
    /// The URL to which notifications are sent.
    pub url: String,
    /// The token that is sent with notifications, so that the receiver recognizes them. A secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
    /// The authentication for the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
    /// The events that the webhook receives.
    #[serde(skip_serializing_if = "EventFilter::is_all")]
    pub events: EventFilter,
    /// The key that signs notifications, in the form `whsec_` and base64. A secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_secret: Option<Secret>,
}

/// A webhook in the form of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownWebhook {
    /// The members that the client may read.
    #[serde(flatten)]
    pub config: TaskPushNotificationConfig,
    /// Which secrets the webhook has, even if they are left out; for clients that use the extension.
    #[serde(flatten)]
    pub has: Option<KnownSecrets>,
}

/// Which secrets a webhook has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownSecrets {
    /// Whether it has a token.
    pub has_token: bool,
    /// Whether it has credentials for the receiver.
    pub has_credentials: bool,
    /// Whether it has a signing secret.
    pub has_signing_secret: bool,
}

impl KnownSecrets {
    /// The secrets of this webhook.
    pub fn of<T>(config: &TaskPushNotificationConfig<T>) -> Self {
        let authentication = config.authentication.as_ref();
        Self {
            has_token: config.token.is_some(),
            has_credentials: authentication.is_some_and(|info| info.credentials.is_some()),
            has_signing_secret: config.signing_secret.is_some(),
        }
    }
}

/// The authentication for a receiver of notifications (spec §4.3.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationInfo {
    /// An HTTP authentication scheme, for example `Bearer`.
    pub scheme: String,
    /// The credentials of the scheme. A secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Secret>,
}

/// The events that a webhook receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EventFilter {
    /// Every event.
    #[default]
    All,
    /// The creation of the task, and status changes.
    Status,
    /// Artifacts.
    Artifacts,
}

/// The task of a webhook, or of a webhook whose task need not be named.
pub trait WebhookTask: Serialize {
    /// Whether no task is named.
    fn is_absent(&self) -> bool;
}

impl WebhookTask for TaskId {
    fn is_absent(&self) -> bool {
        false
    }
}

impl WebhookTask for Option<TaskId> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl EventFilter {
    /// Whether the webhook receives all events.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// The URI of the extension for filtering webhooks, reading their deliveries and requesting
/// redeliveries.
pub const WEBHOOKS_EXTENSION: &str = "urn:a2a-edge:webhooks:v1";

impl Decode for TaskPushNotificationConfig<Option<TaskId>> {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let authentication = fields.object("authentication");
        Self::read(fields, authentication)
    }
}

impl Decode for TaskPushNotificationConfig {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let config = TaskPushNotificationConfig::<Option<TaskId>>::decode(fields)?;
        match config.task_id.clone() {
            Some(task_id) => Some(config.of_task(task_id)),
            None => {
                fields.refuse("taskId", "is required");
                None
            }
        }
    }
}

impl<T> TaskPushNotificationConfig<T> {
    /// The webhook as one of this task.
    pub fn of_task<U>(self, task_id: U) -> TaskPushNotificationConfig<U> {
        let Self { tenant, id, task_id: _, url, token, authentication, events, signing_secret } =
            self;
        TaskPushNotificationConfig {
            tenant,
            id,
            task_id,
            url,
            token,
            authentication,
            events,
            signing_secret,
        }
    }
}

impl TaskPushNotificationConfig<Option<TaskId>> {
    /// Decodes all members except `authentication`, whose form depends on the dialect.
    pub(crate) fn read(
        fields: &mut Fields,
        authentication: Option<AuthenticationInfo>,
    ) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = webhook_id(fields, "id");
        let task_id = fields.id("taskId");
        let url = fields.required_string("url");
        if url.as_ref().is_some_and(|url| url.len() > MAX_URL_BYTES) {
            fields.refuse("url", format!("must have at most {MAX_URL_BYTES} bytes"));
        }
        let token = header_text(fields, "token");
        let events = event_filter(fields);
        let signing_secret = fields.string("signingSecret");
        if signing_secret.as_deref().is_some_and(|text| !is_signing_secret(text)) {
            fields.refuse(
                "signingSecret",
                format!(
                    "must be {SECRET_PREFIX} and base64 of {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} bytes"
                ),
            );
        }
        let signing_secret = signing_secret.map(Secret::new);
        let url = url?;
        Some(Self { tenant, id, task_id, url, token, authentication, events, signing_secret })
    }
}

/// The id that a client has chosen for a webhook, from the member `name`; empty if the member is
/// missing.
pub(crate) fn webhook_id(fields: &mut Fields, name: &str) -> String {
    let id = fields.string(name).unwrap_or_default();
    if id.len() > MAX_ID_CHARS || !id.bytes().all(is_of_an_id) {
        fields.refuse(
            name,
            format!("must have at most {MAX_ID_CHARS} letters, digits and characters of . _ ~ : -"),
        );
    }
    id
}

impl Decode for AuthenticationInfo {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let scheme = fields.required_string("scheme");
        Self::read(fields, "scheme", scheme)
    }
}

impl AuthenticationInfo {
    /// Checks the scheme, which was read from the member `name`, and decodes the other members.
    pub(crate) fn read(fields: &mut Fields, name: &str, scheme: Option<String>) -> Option<Self> {
        if scheme.as_ref().is_some_and(|scheme| {
            scheme.len() > MAX_SCHEME_BYTES || !scheme.bytes().all(is_of_a_token)
        }) {
            fields.refuse(name, "must be the name of an HTTP authentication scheme, as Bearer");
        }
        let credentials = header_text(fields, "credentials");
        Some(Self { scheme: scheme?, credentials })
    }
}

/// The events that a webhook receives. If the name is refused, the violation is added to `fields`, and
/// all events are returned.
fn event_filter(fields: &mut Fields) -> EventFilter {
    match fields.string("events").as_deref() {
        None | Some("all") => EventFilter::All,
        Some("status") => EventFilter::Status,
        Some("artifacts") => EventFilter::Artifacts,
        Some(_) => {
            fields.refuse("events", "must be all, status or artifacts");
            EventFilter::All
        }
    }
}

/// A secret for a header. Violations do not quote it.
fn header_text(fields: &mut Fields, name: &str) -> Option<Secret> {
    let text = fields.string(name)?;
    let is_visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if text.len() > MAX_HEADER_BYTES || !is_visible || text.trim() != text {
        let rule = "characters of ASCII, without line breaks, and no space at either end";
        fields.refuse(name, format!("must have at most {MAX_HEADER_BYTES} {rule}"));
    }
    Some(Secret::new(text))
}

/// Whether a text is a valid signing secret. Its base64 must have the one form that all receivers
/// accept.
fn is_signing_secret(text: &str) -> bool {
    let Some(encoded) = text.strip_prefix(SECRET_PREFIX) else { return false };
    Base64::parse(encoded).is_some_and(|read| {
        let size = read.bytes().len();
        read.as_str() == encoded && (MIN_SECRET_BYTES..=MAX_SECRET_BYTES).contains(&size)
    })
}

/// Whether a byte needs no escape in a path (RFC 3986 §3.3) and is not a delimiter.
fn is_of_an_id(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._~:-".contains(&byte)
}

/// Whether a byte is allowed in an HTTP token (RFC 9110 §5.6.2).
fn is_of_a_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The longest id that a client may choose for a webhook, in characters.
const MAX_ID_CHARS: usize = 64;

/// The longest URL of a webhook, in bytes.
const MAX_URL_BYTES: usize = 2_048;

/// The longest token, and the longest credentials, in bytes.
const MAX_HEADER_BYTES: usize = 4_096;

/// The longest name of an authentication scheme, in bytes.
const MAX_SCHEME_BYTES: usize = 64;

/// The prefix of signing secrets, and the limits for the number of their bytes (Standard Webhooks).
const SECRET_PREFIX: &str = "whsec_";
const MIN_SECRET_BYTES: usize = 24;
const MAX_SECRET_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::decode::decode;
    use super::*;

    fn secret(bytes: usize) -> String {
        format!("whsec_{}", Base64::encode(&vec![7; bytes]).as_str())
    }

    /// The refused fields of a config with these members.
    fn refused(members: Value) -> Vec<String> {
        let mut config = json!({"url": "https://example.com/hook"});
        for (name, value) in members.as_object().unwrap() {
            config[name] = value.clone();
        }
        let violations =
            decode::<TaskPushNotificationConfig<Option<TaskId>>>(config).err().unwrap_or_default();
        violations.into_iter().map(|violation| violation.field).collect()
    }

    #[test]
    fn every_member_is_read_and_written() {
        let full = json!({"tenant": "a", "id": "c-1", "taskId": "t", "url": "https://example.com",
            "token": "a b", "authentication": {"scheme": "Bearer", "credentials": "x=="},
            "events": "status", "signingSecret": secret(24)});
        let config: TaskPushNotificationConfig = decode(full.clone()).unwrap();
        assert_eq!(serde_json::to_value(&config).unwrap(), full);
        let snake: TaskPushNotificationConfig =
            decode(json!({"task_id": "t", "url": "u", "signing_secret": secret(64)})).unwrap();
        assert_eq!((snake.task_id.as_str(), snake.events), ("t", EventFilter::All));
        assert_eq!(snake.signing_secret, Some(Secret::new(secret(64))));
        assert_eq!(serde_json::to_value(&snake).unwrap().get("events"), None);
    }

    #[test]
    fn what_is_at_the_limits_is_taken() {
        for members in [
            json!({"id": "aZ09._~:-"}),
            json!({"id": "i".repeat(64)}),
            json!({"id": ""}),
            json!({"url": format!("https://a/{}", "u".repeat(2_038))}),
            json!({"token": "t".repeat(4_096)}),
            json!({"authentication": {"scheme": "x!#$%&'*+-.^_`|~9"}}),
            json!({"authentication": {"scheme": "B", "credentials": "c".repeat(4_096)}}),
            json!({"events": "all"}),
            json!({"events": "artifacts"}),
            json!({"signingSecret": secret(24)}),
        ] {
            assert_eq!(refused(members.clone()), Vec::<String>::new(), "{members}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named_by_its_field() {
        for (members, field) in [
            (json!({"url": ""}), "url"),
            (json!({"url": 1}), "url"),
            (json!({"url": format!("https://a/{}", "u".repeat(2_039))}), "url"),
            (json!({"id": "a/b"}), "id"),
            (json!({"id": "ä"}), "id"),
            (json!({"id": "i".repeat(65)}), "id"),
            (json!({"id": 5}), "id"),
            (json!({"token": "a\r\nb"}), "token"),
            (json!({"token": " a"}), "token"),
            (json!({"token": "✓"}), "token"),
            (json!({"token": "t".repeat(4_097)}), "token"),
            (json!({"authentication": "Bearer"}), "authentication"),
            (json!({"authentication": {}}), "authentication.scheme"),
            (json!({"authentication": {"scheme": "a b"}}), "authentication.scheme"),
            (json!({"authentication": {"scheme": "a".repeat(65)}}), "authentication.scheme"),
            (
                json!({"authentication": {"scheme": "B", "credentials": "a\nb"}}),
                "authentication.credentials",
            ),
            (json!({"events": "some"}), "events"),
            (json!({"events": []}), "events"),
            (json!({"signingSecret": "whsec_"}), "signingSecret"),
            (json!({"signingSecret": secret(23)}), "signingSecret"),
            (json!({"signingSecret": secret(65)}), "signingSecret"),
            (json!({"signingSecret": secret(25).trim_end_matches('=')}), "signingSecret"),
            (json!({"signingSecret": secret(32).replace("whsec_", "")}), "signingSecret"),
        ] {
            assert_eq!(refused(members.clone()), [field], "{members}");
        }
        let all = json!({"id": "/", "url": "", "token": "\n", "events": "x", "signingSecret": "y"});
        assert_eq!(refused(all), ["id", "url", "token", "events", "signingSecret"]);
    }

    #[test]
    fn secrets_are_not_quoted() {
        let config = json!({"url": "u", "token": "se\ncret", "signingSecret": "secret",
            "authentication": {"scheme": "B", "credentials": "se\ncret"}});
        let violations = decode::<TaskPushNotificationConfig<Option<TaskId>>>(config).unwrap_err();
        assert_eq!(violations.len(), 3);
        for violation in violations {
            assert!(!violation.description.contains("cret\n"), "{violation:?}");
            assert!(!violation.description.contains("secret"), "{violation:?}");
        }
    }
}
