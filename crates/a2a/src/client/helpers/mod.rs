//! Small functions for messages, tasks, cards and skills.

#[cfg(feature = "markdown")]
mod markdown;
mod prompt;
mod skills;

use super::Ports;
use crate::model::{Artifact, Message, Part, Role, Task};
#[cfg(feature = "markdown")]
pub use markdown::skill_from_markdown;
pub use prompt::{build_coordinator_prompt, card_to_prompt, slugify, tool_names};
pub use skills::{capitalized, card_to_skills, humanize, mcp_to_skills, tool_to_skill};

/// Makes a message of the user, with this text and a new id.
///
/// ```
/// use a2a::client::create_message;
/// use a2a::client::simulation::Simulation;
///
/// let ports = Simulation::default().ports();
/// let message = create_message("hello", &ports);
/// assert_eq!(message.text(), "hello");
/// assert_ne!(message.message_id, create_message("hello", &ports).message_id);
/// ```
pub fn create_message(text: impl Into<String>, ports: &Ports) -> Message {
    Message {
        message_id: ports.random.new_id().into(),
        context_id: None,
        task_id: None,
        role: Role::User,
        parts: vec![Part::text(text)],
        metadata: None,
        extensions: Vec::new(),
        reference_task_ids: Vec::new(),
    }
}

/// The text of all artifacts, with a line break between two artifacts; `None` if no artifact contains text. The text parts of one artifact
/// are chunks of one text, and are joined without a separator.
///
/// ```
/// use a2a::client::extract_text;
/// use a2a::model::{Task, decode::read_json};
///
/// let task: Task = read_json(r#"{"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"},
///     "artifacts": [{"artifactId": "a", "parts": [{"text": "o"}, {"text": "ne"}, {"data": 2}]},
///                   {"artifactId": "b", "parts": [{"text": "three"}]}]}"#)?;
/// assert_eq!(extract_text(&task).as_deref(), Some("one\nthree"));
/// assert_eq!(extract_text(&Task { artifacts: Vec::new(), ..task }), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn extract_text(task: &Task) -> Option<String> {
    let texts: Vec<String> = task.artifacts.iter().filter_map(Artifact::text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The agent's question: if the task waits for input or for credentials, the text of the status, else of the agent's last message. `None`
/// if the task does not wait for anybody, or if that text is empty.
///
/// ```
/// use a2a::client::extract_question;
/// use a2a::model::{Task, TaskState, decode::read_json};
///
/// let mut task: Task = read_json(r#"{"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_INPUT_REQUIRED",
///     "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Which colour?"}]}}}"#)?;
/// assert_eq!(extract_question(&task).as_deref(), Some("Which colour?"));
/// task.status.state = TaskState::Working;
/// assert_eq!(extract_question(&task), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn extract_question(task: &Task) -> Option<String> {
    let asking = Some(task).filter(|task| task.status.state.is_interrupted())?;
    Some(last_agent_message(asking)?.text()).filter(|text| !text.is_empty())
}

/// The agent's last message: the message of the status, else the last message of the agent in the history.
///
/// ```
/// use a2a::client::last_agent_message;
/// use a2a::model::{Task, decode::read_json};
///
/// let task: Task = read_json(r#"{"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}, "history": [
///     {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "hello"}]},
///     {"messageId": "2", "role": "ROLE_AGENT", "parts": [{"text": "I look"}]},
///     {"messageId": "3", "role": "ROLE_USER", "parts": [{"text": "thanks"}]}]}"#)?;
/// assert_eq!(last_agent_message(&task).map(|message| message.text()).as_deref(), Some("I look"));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn last_agent_message(task: &Task) -> Option<&Message> {
    let mut said = task.history.iter().chain(&task.status.message);
    said.rfind(|message| message.role == Role::Agent)
}
