//! The events of a task, in the form of streams, webhooks and the event log (spec §4.2).

use serde::Serialize;

use super::decode::{Decode, Fields};
use super::{Artifact, ContextId, Message, Metadata, Task, TaskId, TaskStatus};
use crate::decode_via_fields;

/// One event of a stream (spec §3.2.3); on the wire, exactly one of these members is present.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// The whole task.
    Task(Task),
    /// A message.
    Message(Message),
    /// The task has a new status.
    StatusUpdate(TaskStatusUpdateEvent),
    /// An artifact was created, extended or replaced.
    ArtifactUpdate(TaskArtifactUpdateEvent),
}

/// The event of a new status (spec §4.2.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The id of the task.
    pub task_id: TaskId,
    /// The id of the task's conversation. Events of this server have one; some other servers leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// The new status.
    pub status: TaskStatus,
    /// Free-form data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// The event of an artifact that was created, extended or replaced (spec §4.2.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The id of the task.
    pub task_id: TaskId,
    /// The id of the task's conversation. Events of this server have one; some other servers leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// The artifact, or the new chunk of it.
    pub artifact: Artifact,
    /// Whether the parts are added to the artifact with the same id, instead of replacing it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Whether this event completes the artifact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub last_chunk: bool,
    /// Free-form data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Decode for StreamResponse {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let task = fields.object("task").map(Self::Task);
        let message = fields.object("message").map(Self::Message);
        let status = fields.object("statusUpdate").map(Self::StatusUpdate);
        let artifact = fields.object("artifactUpdate").map(Self::ArtifactUpdate);
        let mut members = [task, message, status, artifact].into_iter().flatten();
        match (members.next(), members.next()) {
            (Some(member), None) => Some(member),
            (None, _) | (Some(_), Some(_)) => {
                let kinds = "task, message, statusUpdate and artifactUpdate";
                fields.refuse("", format!("needs exactly one of {kinds}"));
                None
            }
        }
    }
}

impl Decode for TaskStatusUpdateEvent {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let task_id = fields.required_id("taskId");
        let context_id = fields.required_id("contextId");
        let status = fields.required_object("status");
        let metadata = fields.metadata("metadata");
        Some(Self { task_id: task_id?, context_id: Some(context_id?), status: status?, metadata })
    }
}

impl Decode for TaskArtifactUpdateEvent {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let task_id = fields.required_id("taskId");
        let context_id = fields.required_id("contextId");
        let artifact = fields.required_object("artifact");
        let append = fields.boolean("append");
        let last_chunk = fields.boolean("lastChunk");
        let metadata = fields.metadata("metadata");
        Some(Self {
            task_id: task_id?,
            context_id: Some(context_id?),
            artifact: artifact?,
            append: append.unwrap_or_default(),
            last_chunk: last_chunk.unwrap_or_default(),
            metadata,
        })
    }
}

decode_via_fields!(StreamResponse, TaskStatusUpdateEvent, TaskArtifactUpdateEvent);
