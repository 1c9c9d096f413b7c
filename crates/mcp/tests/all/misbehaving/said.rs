//! The messages and answers of the servers.

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest};
use serde_json::{Value, json};

/// The answer to a request, with this result.
pub(crate) fn answer(request: &SimulatedRequest, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result})
}

/// The refusal of a request.
pub(crate) fn refusal(request: &SimulatedRequest, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": {"code": code, "message": message}})
}

/// The result of a tool with this text.
pub(crate) fn result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The answer of a tool with the text `hello`.
pub(crate) fn hello(request: &SimulatedRequest) -> Value {
    answer(request, result("hello"))
}

/// An answer with one message.
pub(crate) fn plain(message: &Value) -> SimulatedAnswer {
    SimulatedAnswer::json(message)
}

/// An answer with these messages as events.
pub(crate) fn stream(messages: impl IntoIterator<Item = Value>) -> SimulatedAnswer {
    SimulatedAnswer::events(messages)
}

/// A stream with this raw text.
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

/// The description of a server of 2026-07-28.
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

/// A tool in the form of a list.
pub(crate) fn listed(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// The answer of a legacy server that begins a session.
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
