//! Writes the turn and the call of a tool as JSON for the function.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::auth::Caller;
use crate::executor::Turn;
use crate::executor::call::OwnedCall;
use a2a::model::hex;
use a2a_agents::tool::ToolCall;

/// The turn for an executor.
pub(super) fn turn_document(turn: &Turn, is_development: bool) -> String {
    let mut document = Map::new();
    let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
    put("agent", json!(turn.agent));
    put("taskId", json!(turn.task_id));
    put("contextId", json!(turn.context_id));
    put("number", json!(turn.number));
    put("attempt", json!(turn.attempt));
    put("resumes", json!(turn.resumes));
    put("deadline", json!(turn.deadline.0));
    put("message", json!(turn.message));
    if let Some(metadata) = &turn.metadata {
        put("metadata", json!(metadata));
    }
    put("acceptedOutputModes", json!(turn.accepted_output_modes));
    put("caller", caller(&turn.caller));
    put("idempotencyKey", json!(idempotency_key(turn)));
    put("isDevelopment", json!(is_development));
    Value::Object(document).to_string()
}

/// The call for a tool.
pub(super) fn call_document(call: &OwnedCall, is_development: bool) -> String {
    let OwnedCall { turn, key, .. } = call;
    json!({
        "taskId": turn.task_id,
        "idempotencyKey": call.in_turn().idempotency_key(),
        "caller": caller(&turn.caller),
        "toolCallId": key,
        "deadline": turn.deadline.0,
        "isDevelopment": is_development,
    })
    .to_string()
}

fn caller(caller: &Caller) -> Value {
    let mut document = Map::new();
    document.insert("id".to_owned(), json!(caller.id));
    document.insert("owner".to_owned(), json!(caller.owner()));
    document.insert("permissions".to_owned(), json!(caller.permissions));
    if let Some(session) = &caller.session {
        document.insert("session".to_owned(), json!(session));
    }
    Value::Object(document)
}

/// The idempotency key of a turn: the same in each attempt, and different for every other turn.
fn idempotency_key(turn: &Turn) -> String {
    // Hashed, because a client that has the id of a task can read that task.
    hex(&Sha256::digest(format!("{}/{}/function", turn.unique_id(), turn.number)))
}
