//! Encodes tasks, messages and events for 0.3, borrowed from those of 1.0.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Shape;
use crate::model::{
    Artifact, Base64, ContextId, Json, Message, Metadata, Part, PartContent, Role, Task,
    TaskArtifactUpdateEvent, TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent, UnixMillis,
};

/// Whether a state ends a stream: everything later would be the answer to another message.
pub(super) fn is_final(state: TaskState) -> bool {
    state.is_terminal() || state == TaskState::InputRequired
}

/// A task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    id: &'a TaskId,
    context_id: &'a str,
    status: StatusView<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<ArtifactView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<MessageView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

impl<'a> TaskView<'a> {
    pub(super) fn new(shape: Shape, task: &'a Task) -> Self {
        let Task { id, context_id, status, artifacts, history, metadata } = task;
        Self {
            kind: shape.kind("task"),
            id,
            context_id: required(context_id.as_ref()),
            status: StatusView::new(shape, status),
            artifacts: artifacts.iter().map(|one| ArtifactView::new(shape, one)).collect(),
            history: history.iter().map(|one| MessageView::new(shape, one)).collect(),
            metadata: metadata.as_ref(),
        }
    }
}

/// The `contextId` of a task or an event, which 0.3 requires; empty if another server has left it out.
fn required(id: Option<&ContextId>) -> &str {
    id.map_or("", ContextId::as_str)
}

/// A status.
#[derive(Serialize)]
struct StatusView<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<UnixMillis>,
}

impl<'a> StatusView<'a> {
    fn new(shape: Shape, status: &'a TaskStatus) -> Self {
        let TaskStatus { state, message, timestamp } = status;
        let message = message.as_ref().map(|message| MessageView::new(shape, message));
        Self { state: state_name(shape, *state), message, timestamp: *timestamp }
    }
}

/// A message.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    message_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<&'a ContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a TaskId>,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<PartView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Vec<PartView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [String],
    /// Empty in the proto shape: the 0.3 proto has no such field, so strict readers would refuse the
    /// message.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reference_task_ids: &'a [TaskId],
}

impl<'a> MessageView<'a> {
    pub(super) fn new(shape: Shape, message: &'a Message) -> Self {
        let Message {
            message_id,
            context_id,
            task_id,
            role,
            parts,
            metadata,
            extensions,
            reference_task_ids,
        } = message;
        let shown = Some(part_views(shape, parts));
        let (role, parts, content, reference_task_ids): (_, _, _, &[_]) = match (shape, role) {
            (Shape::Kind, Role::User) => ("user", shown, None, reference_task_ids),
            (Shape::Kind, Role::Agent) => ("agent", shown, None, reference_task_ids),
            (Shape::Proto { .. }, Role::User) => ("ROLE_USER", None, shown, &[]),
            (Shape::Proto { .. }, Role::Agent) => ("ROLE_AGENT", None, shown, &[]),
        };
        Self {
            kind: shape.kind("message"),
            message_id,
            context_id: context_id.as_ref(),
            task_id: task_id.as_ref(),
            role,
            parts,
            content,
            metadata: metadata.as_ref(),
            extensions,
            reference_task_ids,
        }
    }
}

/// An artifact.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactView<'a> {
    artifact_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parts: Vec<PartView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [String],
}

impl<'a> ArtifactView<'a> {
    fn new(shape: Shape, artifact: &'a Artifact) -> Self {
        let Artifact { artifact_id, name, description, parts, metadata, extensions } = artifact;
        Self {
            artifact_id,
            name: name.as_deref(),
            description: description.as_deref(),
            parts: part_views(shape, parts),
            metadata: metadata.as_ref(),
            extensions,
        }
    }
}

/// A part.
#[derive(Serialize)]
struct PartView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<DataView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Cow<'a, Metadata>>,
}

fn part_views(shape: Shape, parts: &[Part]) -> Vec<PartView<'_>> {
    parts.iter().map(|part| PartView::new(shape, part)).collect()
}

impl<'a> PartView<'a> {
    fn new(shape: Shape, part: &'a Part) -> Self {
        let metadata = part.metadata.as_ref().map(Cow::Borrowed);
        let empty = Self { kind: None, text: None, file: None, data: None, metadata };
        match &part.content {
            PartContent::Text(text) => Self { kind: shape.kind("text"), text: Some(text), ..empty },
            PartContent::Raw(raw) => {
                let file = FileView::of_bytes(shape, raw, part);
                Self { kind: shape.kind("file"), file: Some(file), ..empty }
            }
            PartContent::Url(url) => {
                let file = FileView::of_uri(shape, url, part);
                Self { kind: shape.kind("file"), file: Some(file), ..empty }
            }
            PartContent::Data(data) => {
                let data = DataView::new(shape, data);
                let metadata = if data.is_marked() {
                    Some(Cow::Owned(marked(part.metadata.as_ref())))
                } else {
                    empty.metadata
                };
                Self { kind: shape.kind("data"), data: Some(data), metadata, ..empty }
            }
        }
    }
}

/// The file of a part.
struct FileView<'a> {
    content: (&'static str, Cow<'a, str>),
    name: Option<&'a str>,
    mime_type: Option<&'a str>,
}

impl<'a> FileView<'a> {
    fn of_bytes(shape: Shape, raw: &'a Base64, part: &'a Part) -> Self {
        let once = Cow::Borrowed(raw.as_str());
        let content = match shape {
            Shape::Kind => ("bytes", once),
            Shape::Proto { single_base64: true } => ("fileWithBytes", once),
            Shape::Proto { single_base64: false } => {
                let twice = Base64::encode(once.as_bytes());
                ("fileWithBytes", Cow::Owned(twice.as_str().to_owned()))
            }
        };
        Self::new(content, part)
    }

    fn of_uri(shape: Shape, uri: &'a str, part: &'a Part) -> Self {
        let name = match shape {
            Shape::Kind => "uri",
            Shape::Proto { .. } => "fileWithUri",
        };
        Self::new((name, Cow::Borrowed(uri)), part)
    }

    fn new(content: (&'static str, Cow<'a, str>), part: &'a Part) -> Self {
        Self { content, name: part.filename.as_deref(), mime_type: part.media_type.as_deref() }
    }
}

impl Serialize for FileView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (member, content) = &self.content;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(member, content)?;
        for (member, text) in [("name", self.name), ("mimeType", self.mime_type)] {
            if let Some(text) = text {
                map.serialize_entry(member, text)?;
            }
        }
        map.end()
    }
}

/// The data of a part, wrapped in objects with one member each.
struct DataView<'a> {
    members: &'static [&'static str],
    data: &'a Json,
}

impl<'a> DataView<'a> {
    /// In 0.3 data must be an object, so any other value is wrapped in an object with the member `value`.
    fn new(shape: Shape, data: &'a Json) -> Self {
        let members: &[_] = match (shape, data.as_str().starts_with('{')) {
            (Shape::Kind, true) => &[],
            (Shape::Kind, false) => &["value"],
            (Shape::Proto { .. }, true) => &["data"],
            (Shape::Proto { .. }, false) => &["data", "value"],
        };
        Self { members, data }
    }

    /// Whether the metadata must mark that the data is wrapped in an object.
    fn is_marked(&self) -> bool {
        self.members.contains(&"value")
    }
}

impl Serialize for DataView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some((name, members)) = self.members.split_first() else {
            return self.data.serialize(serializer);
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, &Self { members, data: self.data })?;
        map.end()
    }
}

/// The metadata with the mark that the data is wrapped in an object.
fn marked(metadata: Option<&Metadata>) -> Metadata {
    let mut members = metadata.map(Metadata::members).unwrap_or_default();
    members.insert(DATA_MARK.to_owned(), Value::Bool(true));
    members.into()
}

/// The member of a data part's metadata which marks that the data is wrapped in an object with the member
/// `value`.
pub(super) const DATA_MARK: &str = "data_part_compat";

/// A status event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusEventView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    task_id: &'a TaskId,
    context_id: &'a str,
    status: StatusView<'a>,
    r#final: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

impl<'a> StatusEventView<'a> {
    pub(super) fn new(shape: Shape, event: &'a TaskStatusUpdateEvent) -> Self {
        let TaskStatusUpdateEvent { task_id, context_id, status, metadata } = event;
        Self {
            kind: shape.kind("status-update"),
            task_id,
            context_id: required(context_id.as_ref()),
            r#final: is_final(status.state),
            status: StatusView::new(shape, status),
            metadata: metadata.as_ref(),
        }
    }
}

/// An artifact event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactEventView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    task_id: &'a TaskId,
    context_id: &'a str,
    artifact: ArtifactView<'a>,
    append: bool,
    last_chunk: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
}

impl<'a> ArtifactEventView<'a> {
    pub(super) fn new(shape: Shape, event: &'a TaskArtifactUpdateEvent) -> Self {
        let TaskArtifactUpdateEvent { task_id, context_id, artifact, append, last_chunk, metadata } =
            event;
        Self {
            kind: shape.kind("artifact-update"),
            task_id,
            context_id: required(context_id.as_ref()),
            artifact: ArtifactView::new(shape, artifact),
            append: *append,
            last_chunk: *last_chunk,
            metadata: metadata.as_ref(),
        }
    }
}

/// The name of a state.
fn state_name(shape: Shape, state: TaskState) -> &'static str {
    match (shape, state) {
        (Shape::Kind, TaskState::Submitted) => "submitted",
        (Shape::Kind, TaskState::Working) => "working",
        (Shape::Kind, TaskState::Completed) => "completed",
        (Shape::Kind, TaskState::Failed) => "failed",
        (Shape::Kind, TaskState::Canceled) => "canceled",
        (Shape::Kind, TaskState::InputRequired) => "input-required",
        (Shape::Kind, TaskState::Rejected) => "rejected",
        (Shape::Kind, TaskState::AuthRequired) => "auth-required",
        (Shape::Proto { .. }, TaskState::Canceled) => "TASK_STATE_CANCELLED",
        (Shape::Proto { .. }, _) => state.wire_name(),
    }
}
