//! The A2A data model (spec §4) as plain values: tasks, messages, artifacts, events, requests, cards.
//!
//! Values are encoded by `serde::Serialize` to the JSON of A2A 1.0 (ProtoJSON, camelCase, defaults
//! omitted), and decoded by [`decode`], which is as lenient as ProtoJSON, and reports each wrong
//! field. The wire forms of older versions are defined in [`dialect`](crate::dialect).

mod agent_card;
mod artifact;
pub mod decode;
mod deletion_request;
mod event;
mod generation;
mod hex;
mod id;
mod json;
mod json_size;
mod message;
pub(crate) mod number;
mod reading;
mod request;
mod secret;
mod security;
mod task;
mod time;
mod timeline_request;
mod webhook;
mod webhook_request;

pub use agent_card::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill,
};
pub use artifact::Artifact;
pub use decode::FieldViolation;
pub use deletion_request::{
    ContextDeletion, DELETION_EXTENSION, DeleteContextRequest, DeleteTaskRequest,
};
pub use event::{StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
pub use generation::{GENERATION_EXTENSION, GENERATION_MEMBER, Generation};
pub use hex::hex;
pub use id::{ContextId, EmptyId, TaskId, Uuid};
pub(crate) use json::extend;
pub use json::{Json, Metadata, Text, append, encode, encode_line, measure, to_json};
pub use json_size::JsonSize;
pub use message::{Base64, CREDENTIALS_MEDIA_TYPE, Message, Part, PartContent, Role};
pub use number::number_text;
pub use reading::{
    MAX_DOCUMENT_VALUES, MAX_FOREIGN_VALUES, MAX_JSON_DEPTH, UnfitJson, read_foreign,
    read_foreign_as, read_own,
};
pub use request::fnv1a;
pub use request::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageConfiguration,
    SendMessageRequest, SubscribeToTaskRequest,
};
pub use secret::Secret;
pub use security::{
    ApiKeySecurityScheme, HttpAuthSecurityScheme, MutualTlsSecurityScheme, OAuth2SecurityScheme,
    OAuthFlows, OpenIdConnectSecurityScheme, SecurityRequirement, SecurityScheme, StringList,
};
pub use task::{HistoryLimit, TIMED_OUT, Task, TaskState, TaskStatus, TaskView};
pub use time::{UnixMillis, doubled};
pub use timeline_request::{GetTaskTimelineRequest, TIMELINE_EXTENSION, TimelineOrder};
pub(crate) use webhook::webhook_id;
pub use webhook::{
    AuthenticationInfo, EventFilter, KnownSecrets, ShownWebhook, TaskPushNotificationConfig,
    WEBHOOKS_EXTENSION, WebhookTask,
};
pub use webhook_request::{
    ListPushNotificationConfigsRequest, ListWebhooksRequest, PushNotificationConfigRequest,
    RedeliverRequest, SignedHeaders, VerifySignatureRequest, WebhookTrouble,
};
