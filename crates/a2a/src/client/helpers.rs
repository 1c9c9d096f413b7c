//! Small functions around messages, tasks and cards.

use super::Ports;
use crate::model::{Artifact, Message, Part, Role, Task};

/// A message of the user with this text and a new id.
pub fn create_message(text: impl Into<String>, ports: &Ports) -> Message {
    Message {
        message_id: ports.random.new_id(),
        context_id: None,
        task_id: None,
        role: Role::User,
        parts: vec![Part::text(text)],
        metadata: None,
        extensions: Vec::new(),
        reference_task_ids: Vec::new(),
    }
}

/// The text of all artifacts, joined by line breaks; `None` if there is none. The text parts of one artifact are chunks of one text,
/// so nothing comes between them.
pub fn extract_text(task: &Task) -> Option<String> {
    let texts: Vec<String> = task.artifacts.iter().filter_map(Artifact::text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
