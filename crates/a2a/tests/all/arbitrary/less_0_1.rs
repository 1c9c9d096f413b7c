//! Reduces values of 1.0 to the content that remains after a round trip through 0.1.

use a2a::model::{Artifact, Message, Part, PartContent, Task, TaskState, TaskStatus};
use serde_json::Value;

/// A task, reduced to the members of 0.1.
pub(crate) fn task(task: Task) -> Task {
    let artifacts = task.artifacts.into_iter().enumerate();
    Task {
        status: self::status(task.status),
        artifacts: artifacts.map(|(index, artifact)| self::artifact(index, artifact)).collect(),
        history: task.history.into_iter().map(self::message).collect(),
        ..task
    }
}

/// 0.1 has no state for rejected tasks, and none for tasks that wait for credentials.
pub(crate) fn status(status: TaskStatus) -> TaskStatus {
    let state = match status.state {
        TaskState::Rejected => TaskState::Failed,
        TaskState::AuthRequired => TaskState::InputRequired,
        other => other,
    };
    TaskStatus { state, message: status.message.map(self::message), ..status }
}

/// In 0.1 a message has no id, no task, no conversation, no referenced tasks and no extensions.
pub(crate) fn message(message: Message) -> Message {
    Message {
        message_id: String::new(),
        context_id: None,
        task_id: None,
        parts: message.parts.into_iter().map(part).collect(),
        extensions: Vec::new(),
        reference_task_ids: Vec::new(),
        ..message
    }
}

/// In 0.1 an artifact has a number instead of an id, and no extensions.
pub(crate) fn artifact(index: usize, artifact: Artifact) -> Artifact {
    let parts = artifact.parts.into_iter().map(part).collect();
    Artifact { artifact_id: index.to_string(), parts, extensions: Vec::new(), ..artifact }
}

/// In 0.1 text and data have neither a file name nor a media type, and data that is not an object
/// becomes text.
pub(crate) fn part(part: Part) -> Part {
    let text = match &part.content {
        PartContent::Raw(_) | PartContent::Url(_) => return part,
        PartContent::Text(_) => None,
        PartContent::Data(data) => match data.value() {
            Value::Object(_) => None,
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        },
    };
    let content = text.map_or(part.content, |text| PartContent::Text(text.into()));
    Part { content, filename: None, media_type: None, ..part }
}
