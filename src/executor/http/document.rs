//! Writes the turn as the JSON document that the agent receives.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::super::{ExecutorError, Turn};
use a2a::model::{Message, Task, hex};

/// The turn as a JSON document. `earlier` are the messages of other tasks in the conversation; `attempt` counts the requests for
/// the turn, from 1. The member `resumes` of the document is true if an earlier answer may have been received in part.
///
/// # Errors
///
/// If the credentials of the turn cannot be decrypted.
pub(super) async fn turn_document(
    turn: &Turn,
    earlier: &[Message],
    attempt: u32,
    resumes: bool,
) -> Result<String, ExecutorError> {
    let mut document = ids(turn);
    let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
    put("attempt", json!(attempt));
    put("resumes", json!(resumes));
    put("timeLeftMs", json!(turn.time_left_ms()));
    put("message", json!(turn.message));
    put(
        "history",
        earlier
            .iter()
            .map(|message| json!(message))
            .chain(history(turn).iter().map(|message| json!(message)))
            .collect(),
    );
    put("caller", json!({"id": turn.caller.id, "permissions": turn.caller.permissions}));
    if let Some(metadata) = &turn.metadata {
        put("metadata", json!(metadata));
    }
    put("acceptedOutputModes", json!(turn.accepted_output_modes));
    if let Some(credentials) = turn.credentials().await? {
        put("credentials", credentials.data().clone());
    }
    let usage = turn.usage();
    if !usage.is_nothing() {
        put("usage", json!(usage));
    }
    if let Some(task) = turn.task() {
        // `history` already contains the messages.
        put("task", json!(Task { history: Vec::new(), ..task }));
    }
    Ok(Value::Object(document).to_string())
}

/// The document that reports the cancel of a turn's task to the agent.
pub(super) fn cancel_document(turn: &Turn) -> String {
    let mut document = ids(turn);
    document.insert("canceled".to_owned(), json!(true));
    Value::Object(document).to_string()
}

/// The idempotency key: the same for all requests of a turn, and different for every other turn.
pub(super) fn idempotency_key(turn: &Turn) -> String {
    // Hashed, because a client that has the id of a task can read that task.
    hex(&Sha256::digest(format!("{}/{}/http", turn.unique_id(), turn.number)))
}

fn ids(turn: &Turn) -> Map<String, Value> {
    let mut ids = Map::new();
    for (name, value) in [
        ("version", json!("1")),
        ("agent", json!(turn.agent)),
        ("taskId", json!(turn.task_id)),
        ("contextId", json!(turn.context_id)),
        ("turn", json!(turn.number)),
    ] {
        ids.insert(name.to_owned(), value);
    }
    ids
}

/// The messages up to and including the message of the turn.
fn history(turn: &Turn) -> Vec<Message> {
    let mut history = turn.history();
    let own = history.iter().rposition(|known| known.message_id == turn.message.message_id);
    match own {
        Some(own) => history.truncate(own + 1),
        None => history.push(turn.message.clone()),
    }
    history
}
