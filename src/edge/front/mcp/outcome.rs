//! Converts calls and tasks of agents to MCP: results, tasks of the tasks extension, and the messages that answer questions.

use serde_json::{Value, json};

use super::address::Place;
use a2a::client::{Client, ClientError, create_message};
use a2a::model::{Message, Part, Task, TaskId, TaskState};
use mcp::agents::{Waiting, result_of};
use mcp::model::{CallResult, Content, Question};
use mcp::server::{Capabilities, input_requests};

/// The result of a call that was refused for this reason.
pub(super) fn refused(reason: &str) -> CallResult {
    CallResult { content: vec![Content::Text(reason.to_owned())], structured: None, is_error: true }
}

/// The result of a call that an agent has refused, or that did not reach its agent.
pub(super) fn failed(error: &ClientError) -> CallResult {
    match error {
        ClientError::Remote(error) => refused(&error.message),
        error => refused(&error.to_string()),
    }
}

/// A task in the form of the tasks extension, for a client with these capabilities. If the task waits with a question that the
/// client cannot show, its status is `completed`, with a result that describes how to continue.
pub(super) fn task_json(task: &Task, place: &Place, capabilities: Capabilities) -> Value {
    let state = task.status.state;
    let waiting = Waiting::of(task).and_then(|waiting| waiting.question);
    let question = waiting.filter(|question| capabilities.can_show(question));
    let result = || result_of(task, &place.slug, &place.address_of(&task.id)).to_json();
    let (status, more): (&str, Option<(&str, Value)>) = match (state, &question) {
        (TaskState::Submitted | TaskState::Working, _) => ("working", None),
        (TaskState::Canceled, _) => ("cancelled", None),
        (_, Some(question)) => ("input_required", Some(asked(question))),
        (_, None) => ("completed", Some(("result", result()))),
    };
    let mut json = json!({"taskId": place.id_of(&task.id), "status": status, "ttlMs": null, "pollIntervalMs": POLL_MS});
    if let Value::Object(members) = &mut json {
        // The only time in a task of A2A is the beginning of its state.
        if let Some(timestamp) = &task.status.timestamp {
            members.insert("createdAt".to_owned(), json!(timestamp));
            members.insert("lastUpdatedAt".to_owned(), json!(timestamp));
        }
        let said = task.status.message.as_ref().map(a2a::model::Message::text);
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            members.insert("statusMessage".to_owned(), json!(said));
        }
        if let Some((name, value)) = more {
            members.insert(name.to_owned(), value);
        }
    }
    json
}

fn asked(question: &Question) -> (&'static str, Value) {
    ("inputRequests", Value::Object(input_requests(std::slice::from_ref(question))))
}

/// A message with this id that answers the question of a task.
pub(super) fn answer_to(task: &TaskId, id: String, parts: Vec<Part>, client: &Client) -> Message {
    let task_id = Some(task.clone());
    Message { message_id: id, task_id, parts, ..create_message("", client.ports()) }
}

/// The time that clients should wait between two polls of a task, in milliseconds.
const POLL_MS: u64 = 2_000;

/// The code of A2A for a task that does not exist.
pub(super) const TASK_NOT_FOUND: i32 = -32_001;
