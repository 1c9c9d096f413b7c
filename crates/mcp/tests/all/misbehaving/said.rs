//! What servers say.

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest};
use serde_json::{Value, json};

/// The message that answers a request with this result.
pub(crate) fn answer(request: &SimulatedRequest, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result})
}

/// The message that refuses a request.
pub(crate) fn refusal(request: &SimulatedRequest, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": {"code": code, "message": message}})
}

/// The result of a tool that says this.
pub(crate) fn result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The message of a tool that says `hello`.
pub(crate) fn hello(request: &SimulatedRequest) -> Value {
    answer(request, result("hello"))
}

/// An answer of one message.
pub(crate) fn plain(message: &Value) -> SimulatedAnswer {
    SimulatedAnswer::json(message)
}

/// An answer of these messages as events.
pub(crate) fn stream(messages: impl IntoIterator<Item = Value>) -> SimulatedAnswer {
    SimulatedAnswer::events(messages)
}

/// A stream that is written like this.
pub(crate) fn raw(text: impl Into<String>) -> SimulatedAnswer {
    SimulatedAnswer::status(200).header("content-type", "text/event-stream").text(text)
}

/// Progress for the request.
pub(crate) fn progress(request: &SimulatedRequest, progress: f64) -> Value {
    let token = &request.json()["params"]["_meta"]["progressToken"];
    progress_for(token, progress)
}

pub(crate) fn progress_for(token: &Value, progress: f64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": progress}})
}

/// A server of 2026-07-28 tells what it is.
pub(crate) fn discovered(request: &SimulatedRequest) -> SimulatedAnswer {
    let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "public"});
    plain(&answer(request, result))
}

/// A page of tools.
pub(crate) fn page(
    request: &SimulatedRequest,
    tools: &[Value],
    next: Option<&str>,
) -> SimulatedAnswer {
    let mut result = json!({"tools": tools});
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    plain(&answer(request, result))
}

/// A tool as it is listed.
pub(crate) fn listed(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// A legacy server begins a session.
pub(crate) fn initialized(
    request: &SimulatedRequest,
    revision: &str,
    session: Option<&str>,
) -> SimulatedAnswer {
    let result = json!({"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"}});
    let begun = plain(&answer(request, result));
    match session {
        Some(session) => begun.header("mcp-session-id", session),
        None => begun,
    }
}
