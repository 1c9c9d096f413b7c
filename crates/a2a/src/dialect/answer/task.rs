//! Decodes tasks, statuses and artifacts, and pages of tasks.

use super::super::older::STATES;
use super::{Reader, context_id, metadata, timestamp};
use crate::model::decode::Fields;
use crate::model::{Artifact, Message, Role, Task, TaskState, TaskStatus};

/// A page of tasks.
pub(crate) struct Page {
    pub(crate) tasks: Vec<Task>,
    pub(crate) next_page_token: String,
    pub(crate) total_size: Option<u64>,
}

impl Reader {
    /// Decodes a page of tasks. Servers omit empty members.
    pub(crate) fn page(self, fields: &mut Fields) -> Option<Page> {
        let next_page_token = fields.string("nextPageToken").unwrap_or_default();
        let total_size = fields.integer("totalSize").and_then(|size| u64::try_from(size).ok());
        let tasks = fields.list_with("tasks", |fields| self.task(fields))?;
        Some(Page { tasks, next_page_token, total_size })
    }

    /// Decodes a task, which may be wrapped in an object.
    pub(crate) fn task(self, fields: &mut Fields) -> Option<Task> {
        if fields.has("task") && !fields.has("id") {
            return fields.object_with("task", |fields| self.task(fields));
        }
        let id = fields.required_id("id");
        let context_id = context_id(fields);
        if fields.has("messages") && !fields.has("status") {
            let (status, history) = self.plain(fields)?;
            let (id, artifacts) = (id?, Vec::new());
            return Some(Task { id, context_id, status, artifacts, history, metadata: None });
        }
        let status = self.required_status(fields);
        let artifacts = self.artifacts(fields);
        // Some servers put statuses into the history.
        let history = fields.list_with("history", |fields| {
            if fields.has("state") { Some(None) } else { self.message(fields).map(Some) }
        });
        let metadata = metadata(fields);
        Some(Task {
            id: id?,
            context_id,
            status: status?,
            artifacts: artifacts?,
            history: history?.into_iter().flatten().collect(),
            metadata,
        })
    }

    /// Decodes the status and the history of a task of the plain pair of 0.1: the agent's last message, after the agent
    /// has finished, belongs to the status.
    fn plain(self, fields: &mut Fields) -> Option<(TaskStatus, Vec<Message>)> {
        let state = state(fields);
        let timestamp = timestamp(fields, "updatedAt").or_else(|| timestamp(fields, "createdAt"));
        let mut history = fields.list_with("messages", |fields| self.message(fields))?;
        let is_due = matches!(state, Some(TaskState::Submitted | TaskState::Working));
        let is_of_agent = |message: &mut Message| !is_due && message.role == Role::Agent;
        let message = history.pop_if(is_of_agent).filter(|message| !message.parts.is_empty());
        Some((TaskStatus { state: state?, message, timestamp }, history))
    }

    pub(super) fn required_status(self, fields: &mut Fields) -> Option<TaskStatus> {
        if !fields.has("status") {
            fields.refuse("status", "is required");
        }
        fields.object_with("status", |fields| self.status(fields))
    }

    fn status(self, fields: &mut Fields) -> Option<TaskStatus> {
        let state = state(fields);
        let message = fields.object_with("message", |fields| self.message(fields));
        let timestamp = timestamp(fields, "timestamp");
        Some(TaskStatus { state: state?, message, timestamp })
    }

    /// Decodes the artifacts of a task. An artifact without an id gets an id from its number, or from its place if the
    /// number is already used, because some servers send the same number for all artifacts.
    fn artifacts(self, fields: &mut Fields) -> Option<Vec<Artifact>> {
        let mut read: Vec<Artifact> = Vec::new();
        fields.list_with("artifacts", |fields| {
            let is_numbered = !fields.has("artifactId");
            let mut artifact = self.artifact(fields)?;
            let mut known = read.iter().map(|known| &known.artifact_id);
            if is_numbered && known.any(|known| *known == artifact.artifact_id) {
                artifact.artifact_id = numbered(read.len());
            }
            read.push(artifact);
            Some(())
        })?;
        Some(read)
    }

    pub(super) fn artifact(self, fields: &mut Fields) -> Option<Artifact> {
        let artifact_id = fields.string("artifactId");
        let index = fields.integer("index").and_then(|index| usize::try_from(index).ok());
        let name = fields.string("name");
        let description = fields.string("description");
        let parts = fields.list_with("parts", |fields| self.part(fields));
        let metadata = metadata(fields);
        let extensions = fields.strings("extensions");
        let artifact_id = artifact_id.unwrap_or_else(|| numbered(index.unwrap_or_default()));
        Some(Artifact { artifact_id, name, description, parts: parts?, metadata, extensions })
    }
}

/// The id of an artifact that has only a number.
fn numbered(index: usize) -> String {
    format!("artifact-{index}")
}

/// The state, by its name in any version or by its number. An unknown state of the server is read as working.
fn state(fields: &mut Fields) -> Option<TaskState> {
    if !fields.has("state") {
        fields.refuse("state", "is required");
        return None;
    }
    // `fields` records a name that no version has.
    Some(fields.enumeration("state", &STATES).unwrap_or(TaskState::Working))
}
