//! Encodes tasks, messages and webhooks for clients of this dialect.

use serde::Serialize;

use super::super::older::SchemesView;
use super::TaskMembers;
use super::params::{ARTIFACT, STATUS};
use super::part::PartView;
use crate::model::{
    Artifact, ContextId, EventFilter, Message, Metadata, Part, Role, Secret, TaskId,
    TaskPushNotificationConfig, TaskState, TaskStatus, UnixMillis,
};

/// A task. In notifications the task also contains the kind of the event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskView<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a ContextId>,
    status: StatusView<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<ArtifactView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<UnixMillis>,
}

/// An entry of the history.
#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    Message(MessageView<'a>),
    Status(StatusView<'a>),
}

impl<'a> TaskView<'a> {
    pub(super) fn of(task: TaskMembers<'a>) -> Self {
        let TaskMembers { id, context_id, status, artifacts, history, metadata } = task;
        let artifacts = artifacts.iter().enumerate();
        Self {
            id,
            session_id: context_id,
            status: StatusView::of(status),
            artifacts: artifacts
                .map(|(index, artifact)| ArtifactView::of(artifact, index))
                .collect(),
            history: history.iter().map(MessageView::of).map(Said::Message).collect(),
            metadata,
            task_id: None,
            event_type: None,
            timestamp: None,
        }
    }

    /// Sets these statuses as the history.
    pub(super) fn with_statuses(self, statuses: &'a [TaskStatus]) -> Self {
        let history = statuses.iter().map(StatusView::of).map(Said::Status).collect();
        Self { history, ..self }
    }

    /// Adds the kind and time of the event, for a notification.
    pub(super) fn of_event(self, kind: &'static str, timestamp: UnixMillis) -> Self {
        let (task_id, event_type, timestamp) = (Some(self.id), Some(kind), Some(timestamp));
        Self { task_id, event_type, timestamp, ..self }
    }
}

/// A status.
#[derive(Serialize)]
pub(super) struct StatusView<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<UnixMillis>,
}

impl<'a> StatusView<'a> {
    pub(super) fn of(status: &'a TaskStatus) -> Self {
        let message = status.message.as_ref().map(MessageView::of);
        Self { state: state(status.state), message, timestamp: status.timestamp }
    }
}

/// The name of a state. This dialect has no name for rejected tasks and for tasks that wait for credentials.
fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed | TaskState::Rejected => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired | TaskState::AuthRequired => "input-required",
    }
}

/// A message.
#[derive(Serialize)]
pub(super) struct MessageView<'a> {
    role: &'static str,
    parts: Vec<PartView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

impl<'a> MessageView<'a> {
    pub(super) fn of(message: &'a Message) -> Self {
        Self::with_parts(message, PartView::of)
    }

    /// A message for the plain pair, whose parts have no type.
    pub(super) fn plain(message: &'a Message) -> Self {
        Self::with_parts(message, PartView::plain)
    }

    /// A message of the agent with these parts.
    pub(super) fn of_agent(parts: Vec<PartView<'a>>) -> Self {
        Self { role: role(Role::Agent), parts, metadata: None }
    }

    fn with_parts(message: &'a Message, view: fn(&'a Part) -> PartView<'a>) -> Self {
        let parts = message.parts.iter().map(view).collect();
        Self { role: role(message.role), parts, metadata: message.metadata.as_ref() }
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent => "agent",
    }
}

/// An artifact, or a chunk of one. `index` is the artifact's number in the task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parts: Vec<PartView<'a>>,
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    append: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_chunk: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

impl<'a> ArtifactView<'a> {
    pub(super) fn of(artifact: &'a Artifact, index: usize) -> Self {
        Self {
            name: artifact.name.as_deref(),
            description: artifact.description.as_deref(),
            parts: artifact.parts.iter().map(PartView::of).collect(),
            index,
            append: None,
            last_chunk: None,
            metadata: artifact.metadata.as_ref(),
        }
    }

    /// Adds the members for a chunk on a stream.
    pub(super) fn on_stream(self, append: bool, last_chunk: bool) -> Self {
        Self { append: Some(append), last_chunk: Some(last_chunk), ..self }
    }
}

/// A webhook of a task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookView<'a> {
    id: &'a TaskId,
    push_notification_config: ConfigView<'a>,
}

#[derive(Serialize)]
pub(super) struct ConfigView<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<SchemesView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<[&'static str; 1]>,
}

impl<'a> WebhookView<'a> {
    pub(super) fn of(config: &'a TaskPushNotificationConfig) -> Self {
        let push_notification_config = ConfigView::of(config);
        Self { id: &config.task_id, push_notification_config }
    }
}

impl<'a> ConfigView<'a> {
    pub(super) fn of<T>(config: &'a TaskPushNotificationConfig<T>) -> Self {
        let authentication = config.authentication.as_ref().map(SchemesView::of);
        let events = match config.events {
            EventFilter::All => None,
            EventFilter::Status => Some([STATUS]),
            EventFilter::Artifacts => Some([ARTIFACT]),
        };
        let (url, token) = (config.url.as_str(), config.token.as_ref());
        Self { url, token, authentication, events }
    }
}
