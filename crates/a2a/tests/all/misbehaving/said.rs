//! The messages and answers of the servers.

use a2a::client::simulation::SimulatedAnswer;
use serde_json::{Value, json};

/// A correct card: 1.0 over JSON-RPC, with streaming.
pub(crate) fn card() -> SimulatedAnswer {
    SimulatedAnswer::json(&card_json("1.0", true))
}

pub(crate) fn card_json(version: &str, streams: bool) -> Value {
    card_at("https://agent.example/a2a", "JSONRPC", version, streams)
}

pub(crate) fn card_at(url: &str, binding: &str, version: &str, streams: bool) -> Value {
    let interface = json!({"url": url, "protocolBinding": binding, "protocolVersion": version});
    json!({"name": "Agent", "description": "Says hello.", "version": "1",
        "supportedInterfaces": [interface], "capabilities": {"streaming": streams},
        "defaultInputModes": ["text"], "defaultOutputModes": ["text"], "skills": []})
}

/// A JSON-RPC result.
pub(crate) fn rpc(result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": "1", "result": result})
}

/// A JSON-RPC error.
pub(crate) fn error(code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "1", "error": {"code": code, "message": message}})
}

/// A state by the last part of its name.
fn state(name: &str) -> String {
    format!("TASK_STATE_{name}")
}

/// A task in a state with these artifacts, each a name and a text.
pub(crate) fn task(name: &str, artifacts: &[(&str, &str)]) -> Value {
    let artifact = |(id, text): &(&str, &str)| json!({"artifactId": id, "parts": [{"text": text}]});
    let artifacts: Vec<Value> = artifacts.iter().map(artifact).collect();
    json!({"id": "t-1", "contextId": "c-1", "status": {"state": state(name)}, "artifacts": artifacts})
}

/// The task as an event of a stream, or as the answer to a send.
pub(crate) fn snapshot(name: &str, artifacts: &[(&str, &str)]) -> Value {
    rpc(json!({"task": task(name, artifacts)}))
}

pub(crate) fn status(name: &str) -> Value {
    status_of("t-1", name)
}

pub(crate) fn status_of(task: &str, name: &str) -> Value {
    rpc(
        json!({"statusUpdate": {"taskId": task, "contextId": "c-1", "status": {"state": state(name)}}}),
    )
}

/// A state with a message of the agent.
pub(crate) fn saying(name: &str, text: &str) -> Value {
    let message =
        json!({"messageId": format!("m-{text}"), "role": "ROLE_AGENT", "parts": [{"text": text}]});
    let status = json!({"state": state(name), "message": message});
    rpc(json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": status}}))
}

/// A text as a whole artifact.
pub(crate) fn artifact(text: &str) -> Value {
    artifact_of("t-1", text, false)
}

pub(crate) fn chunk(text: &str) -> Value {
    artifact_of("t-1", text, true)
}

pub(crate) fn artifact_of(task: &str, text: &str, append: bool) -> Value {
    let artifact = json!({"artifactId": "a", "parts": [{"text": text}]});
    rpc(
        json!({"artifactUpdate": {"taskId": task, "contextId": "c-1", "artifact": artifact, "append": append}}),
    )
}

pub(crate) fn message(text: &str) -> Value {
    rpc(json!({"message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": text}]}}))
}

/// A stream of these events.
pub(crate) fn stream(events: impl IntoIterator<Item = Value>) -> SimulatedAnswer {
    SimulatedAnswer::events(events)
}

/// A stream of events with ids from this one on.
pub(crate) fn numbered(first: usize, events: impl IntoIterator<Item = Value>) -> SimulatedAnswer {
    let event =
        |(place, event): (usize, Value)| format!("id: {}\ndata: {event}\n\n", first + place);
    let answer = SimulatedAnswer::events([]);
    events.into_iter().enumerate().map(event).fold(answer, SimulatedAnswer::text)
}

/// A complete stream: a working task, an artifact with this text, and the end.
pub(crate) fn completed(text: &str) -> SimulatedAnswer {
    stream([snapshot("WORKING", &[]), artifact(text), status("COMPLETED")])
}

/// The answer with a task as the whole result, as for GetTask.
pub(crate) fn bare(name: &str, artifacts: &[(&str, &str)]) -> SimulatedAnswer {
    SimulatedAnswer::json(&rpc(task(name, artifacts)))
}

/// A JSON-RPC error as an answer.
pub(crate) fn refused(code: i32, message: &str) -> SimulatedAnswer {
    SimulatedAnswer::json(&error(code, message))
}
