//! Small functions around messages, tasks and cards.

use super::Ports;
use crate::model::{Message, Part, Role, Task};

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

/// The text parts of all artifacts, joined by line breaks; `None` if there are none.
pub fn extract_text(task: &Task) -> Option<String> {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    let texts: Vec<&str> = parts.filter_map(Part::as_text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
