//! Decodes the events of streams, and the answers to messages, which are one event: a task or a message.

use super::{Reader, context_id, metadata};
use crate::dialect::Dialect;
use crate::model::decode::Fields;
use crate::model::{StreamResponse, TaskArtifactUpdateEvent, TaskId, TaskStatusUpdateEvent};

/// The kind of an event.
#[derive(Clone, Copy)]
enum Kind {
    Task,
    Message,
    Status,
    Artifact,
}

impl Reader {
    /// Decodes an event: either bare (before 1.0) or as a named member of an object.
    pub(crate) fn event(self, fields: &mut Fields) -> Option<StreamResponse> {
        // In 0.1 a status contains the id of its task under the same name as a task does.
        let is_task =
            self.dialect != Dialect::Legacy || TASK_ONLY.into_iter().any(|name| fields.has(name));
        self.any(fields, is_task)
    }

    /// Decodes the answer to a message: a task or a message.
    pub(crate) fn sent(self, fields: &mut Fields) -> Option<StreamResponse> {
        self.any(fields, true)
    }

    /// Decodes an event. `is_task`: an object with a status, but without `taskId` and `final`, is a task.
    fn any(self, fields: &mut Fields, is_task: bool) -> Option<StreamResponse> {
        if let Some(kind) = kind_of(fields, is_task) {
            return self.of_kind(kind, fields);
        }
        let Some((name, kind)) = MEMBERS.into_iter().find(|(name, _)| fields.has(name)) else {
            fields.refuse("", "is neither a task, a message, a status nor an artifact");
            return None;
        };
        fields.object_with(name, |fields| self.of_kind(kind, fields))
    }

    fn of_kind(self, kind: Kind, fields: &mut Fields) -> Option<StreamResponse> {
        Some(match kind {
            Kind::Task => StreamResponse::Task(self.task(fields)?),
            Kind::Message => StreamResponse::Message(self.message(fields)?),
            Kind::Status => StreamResponse::StatusUpdate(self.status_update(fields)?),
            Kind::Artifact => StreamResponse::ArtifactUpdate(self.artifact_update(fields)?),
        })
    }

    fn status_update(self, fields: &mut Fields) -> Option<TaskStatusUpdateEvent> {
        let task_id = task_id(fields);
        let context_id = context_id(fields);
        let status = self.required_status(fields);
        let metadata = metadata(fields);
        Some(TaskStatusUpdateEvent { task_id: task_id?, context_id, status: status?, metadata })
    }

    /// Decodes an artifact event. In 0.1 the members `append` and `lastChunk` are in the artifact
    /// itself.
    fn artifact_update(self, fields: &mut Fields) -> Option<TaskArtifactUpdateEvent> {
        let task_id = task_id(fields);
        let context_id = context_id(fields);
        let mut append = fields.boolean("append").unwrap_or_default();
        let mut last_chunk = fields.boolean("lastChunk").unwrap_or_default();
        let artifact = fields.object_with("artifact", |fields| {
            append |= fields.boolean("append").unwrap_or_default();
            last_chunk |= fields.boolean("lastChunk").unwrap_or_default();
            self.artifact(fields)
        });
        let metadata = metadata(fields);
        let (task_id, artifact) = (task_id?, artifact?);
        Some(TaskArtifactUpdateEvent {
            task_id,
            context_id,
            artifact,
            append,
            last_chunk,
            metadata,
        })
    }
}

/// The kind of a bare event: by its `kind`, or by its members.
fn kind_of(fields: &mut Fields, is_task: bool) -> Option<Kind> {
    let kind = fields.string("kind");
    let named = KINDS.into_iter().find(|(name, _)| kind.as_deref() == Some(*name));
    if let Some((_, kind)) = named {
        return Some(kind);
    }
    let has = |name: &str| fields.has(name);
    if has("artifact") {
        Some(Kind::Artifact)
    } else if has("status") && (has("taskId") || has("final") || !is_task) {
        Some(Kind::Status)
    } else if has("status") || has("messages") && has("state") {
        Some(Kind::Task)
    } else if has("parts") || has("content") {
        Some(Kind::Message)
    } else {
        None
    }
}

/// The id of the event's task, under the name of any version.
fn task_id(fields: &mut Fields) -> Option<TaskId> {
    let name = if fields.has("taskId") { "taskId" } else { "id" };
    fields.required_id(name)
}

/// The names of members that contain an event: those of 1.0, and one of the proto of 0.3.
const MEMBERS: [(&str, Kind); 5] = [
    ("task", Kind::Task),
    ("message", Kind::Message),
    ("statusUpdate", Kind::Status),
    ("artifactUpdate", Kind::Artifact),
    ("msg", Kind::Message),
];

/// The values of `kind` in bare events of 0.3.
const KINDS: [(&str, Kind); 4] = [
    ("task", Kind::Task),
    ("message", Kind::Message),
    ("status-update", Kind::Status),
    ("artifact-update", Kind::Artifact),
];

/// The members that a task of 0.1 has, but a status does not.
const TASK_ONLY: [&str; 3] = ["artifacts", "history", "sessionId"];
