//! Decodes the parameters of calls.

use serde_json::Value;

use super::super::ReadCall;
use super::super::older::ROLES;
use crate::error::Error;
use crate::model::decode::{Decode, Fields, decode_with};
use crate::model::{
    AuthenticationInfo, ContextId, EventFilter, Message, PushNotificationConfigRequest, Role,
    SendMessageConfiguration, SendMessageRequest, TaskId, TaskPushNotificationConfig,
};
use crate::{Call, FollowCall, Operation, TaskCall, WebhookCall};

use super::part::LegacyPart;

/// Decodes the parameters of `tasks/send` and `tasks/sendSubscribe`. The message has an empty id unless the client sends
/// one.
///
/// # Errors
///
/// [`Error::InvalidParams`].
pub(super) fn send(operation: Operation, params: Value) -> Result<ReadCall, Error> {
    let (id, request) = decode_with(params, |fields| {
        let id = task_id(fields);
        let tenant = fields.string("tenant");
        let session = fields.id("sessionId");
        let message = fields.required_object::<LegacyMessage>("message");
        let configuration = SendMessageConfiguration {
            accepted_output_modes: fields.strings("acceptedOutputModes"),
            history_length: fields.count("historyLength"),
            return_immediately: false,
            task_push_notification_config: fields
                .object::<Webhook>("pushNotification")
                .map(|read| read.0),
        };
        let metadata = fields.metadata("metadata");
        let message = message?.of_session(session);
        Some((id?, SendMessageRequest { tenant, message, configuration, metadata }))
    })?;
    let request = Box::new(request);
    let call = match operation {
        Operation::SendStreamingMessage => Call::Follow(FollowCall::SendStreamingMessage(request)),
        _ => Call::Task(TaskCall::SendMessage(request)),
    };
    Ok(ReadCall { chosen_id: Some(id), ..call.into() })
}

/// Decodes the parameters of `tasks/pushNotification/set` and `tasks/pushNotification/get`. A task has only one webhook, so
/// the webhook needs no id.
///
/// # Errors
///
/// [`Error::InvalidParams`].
pub(super) fn webhook(operation: Operation, params: Value) -> Result<ReadCall, Error> {
    let call = decode_with(params, |fields| {
        let task_id = task_id(fields);
        let tenant = fields.string("tenant");
        if operation == Operation::GetTaskPushNotificationConfig {
            let id = String::new();
            let request = PushNotificationConfigRequest { tenant, task_id: task_id?, id };
            return Some(WebhookCall::GetTaskPushNotificationConfig(request));
        }
        let Webhook(config) = fields.required_object("pushNotificationConfig")?;
        let config = TaskPushNotificationConfig { tenant, ..config.of_task(task_id?) };
        Some(WebhookCall::CreateTaskPushNotificationConfig(Box::new(config)))
    })?;
    Ok(Call::from(call).into())
}

/// The id of the task, which the client has chosen.
fn task_id(fields: &mut Fields) -> Option<TaskId> {
    fields.required_id("id")
}

/// A message of this dialect.
pub(super) struct LegacyMessage(Message);

impl LegacyMessage {
    /// The message, in the session with this id.
    pub(super) fn of_session(self, session: Option<ContextId>) -> Message {
        Message { context_id: session, ..self.0 }
    }

    /// Decodes a message. `sender` is the role of a message without a role; if it is `None`, the role is required.
    pub(super) fn read(fields: &mut Fields, sender: Option<Role>) -> Option<Self> {
        // Clients that are prepared for a later version already send this member.
        let message_id = fields.string("messageId").unwrap_or_default();
        let role = match sender {
            Some(sender) => fields.enumeration("role", &ROLES).or(Some(sender)),
            None => fields.required_enumeration("role", &ROLES),
        };
        let parts = fields.required_list::<LegacyPart>("parts");
        let metadata = fields.metadata("metadata");
        Some(Self(Message {
            message_id,
            context_id: None,
            task_id: None,
            role: role?,
            parts: parts?.into_iter().map(|part| part.0).collect(),
            metadata,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }))
    }
}

impl Decode for LegacyMessage {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Self::read(fields, None)
    }
}

/// A webhook of this dialect.
struct Webhook(TaskPushNotificationConfig<Option<TaskId>>);

impl Decode for Webhook {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let events = event_filter(fields);
        // Ids of webhooks exist only in later versions.
        fields.member("id");
        let authentication = fields.object::<Authentication>("authentication").map(|read| read.0);
        let config = TaskPushNotificationConfig::read(fields, authentication)?;
        Some(Self(TaskPushNotificationConfig { events, ..config }))
    }
}

/// The authentication for a receiver: the first of its schemes.
struct Authentication(AuthenticationInfo);

impl Decode for Authentication {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let scheme = fields.strings("schemes").into_iter().next();
        if scheme.is_none() {
            fields.refuse("schemes", "is required and needs at least one element");
        }
        AuthenticationInfo::read(fields, "schemes[0]", scheme).map(Self)
    }
}

/// The events that a webhook receives: `status`, `artifact`, or both, which is also the default.
fn event_filter(fields: &mut Fields) -> EventFilter {
    let events = fields.strings("events");
    if events.iter().any(|event| event != STATUS && event != ARTIFACT) {
        fields.refuse("events", format!("must be a list of {STATUS} and {ARTIFACT}"));
    }
    let has = |kind: &str| events.iter().any(|event| event == kind);
    match (has(STATUS), has(ARTIFACT)) {
        (true, false) => EventFilter::Status,
        (false, true) => EventFilter::Artifacts,
        (true, true) | (false, false) => EventFilter::All,
    }
}

/// The kinds of events.
pub(super) const STATUS: &str = "status";
pub(super) const ARTIFACT: &str = "artifact";
