//! Makes answers, in the form of the request's era.

use a2a::binding::http::HttpResponse;
use serde_json::{Map, Value, json};

use super::{Capabilities, Era};
use crate::model::{CallResult, LATEST, Question, QuestionKind, Revision, RpcError, code, meta};

/// A server's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// The name.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// The version.
    pub version: String,
}

impl ServerInfo {
    /// A server with this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, version: version.into() }
    }

    fn to_json(&self) -> Value {
        let mut info = json!({"name": self.name, "version": self.version});
        if let (Some(title), Value::Object(members)) = (&self.title, &mut info) {
            members.insert("title".to_owned(), json!(title));
        }
        info
    }
}

/// Makes the answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The id of the request; null if it is unknown.
    pub(super) id: Value,
    pub(super) era: Era,
    server: ServerInfo,
}

impl Reply {
    pub(super) fn new(id: Value, era: Era, server: &ServerInfo) -> Self {
        Self { id, era, server: server.clone() }
    }

    /// The era of the request.
    pub fn era(&self) -> Era {
        self.era
    }

    /// The capabilities of the request's client; none for a legacy client.
    pub fn capabilities(&self) -> Capabilities {
        match self.era {
            Era::Modern(capabilities) => capabilities,
            Era::Legacy => Capabilities::default(),
        }
    }

    /// The answer with a complete result, an object.
    pub fn result(&self, result: Value) -> HttpResponse {
        HttpResponse::json(200, self.message(result).to_string())
    }

    /// The answer with a result that may be cached for this time; a private result must not be in shared caches.
    pub fn cacheable(&self, result: Value, ttl_ms: u64, is_private: bool) -> HttpResponse {
        let mut members = members(result);
        if let Era::Modern(_) = self.era {
            let scope = if is_private { "private" } else { "public" };
            members.insert("ttlMs".to_owned(), json!(ttl_ms));
            members.insert("cacheScope".to_owned(), json!(scope));
        }
        self.result(Value::Object(members))
    }

    /// The answer to `server/discover` or `initialize`, for a client that requests this revision. `capabilities` are the
    /// capabilities of the server.
    pub fn introduction(
        &self,
        wanted: Option<&str>,
        capabilities: &Value,
        instructions: &str,
        ttl_ms: u64,
    ) -> HttpResponse {
        match self.era {
            Era::Modern(_) => {
                let result = json!({
                    "supportedVersions": [LATEST.as_str()],
                    "capabilities": capabilities,
                    "instructions": instructions,
                });
                self.cacheable(result, ttl_ms, false)
            }
            Era::Legacy => {
                let wanted = wanted.and_then(Revision::parse).filter(|wanted| !wanted.is_modern());
                let revision = wanted.unwrap_or(Revision::V2025_11_25);
                self.result(json!({
                    "protocolVersion": revision.as_str(),
                    "capabilities": capabilities,
                    "serverInfo": self.server.to_json(),
                    "instructions": instructions,
                }))
            }
        }
    }

    /// The message with the result of a tool. Before 2026-07-28 structured content must be an object, so any other value is
    /// wrapped in an object with the member `result`.
    pub fn called(&self, mut result: CallResult) -> Value {
        if self.era == Era::Legacy {
            let wrapped = |structure: Value| match structure {
                Value::Object(_) => structure,
                other => json!({"result": other}),
            };
            result.structured = result.structured.map(wrapped);
        }
        self.message(result.to_json())
    }

    /// The message with questions to the user during a call, and the state that the client returns with the answers. Only
    /// for modern clients.
    pub fn asking(&self, questions: &[Question], state: &str) -> Value {
        let requests = input_requests(questions);
        let result = json!({"inputRequests": requests, "requestState": state});
        self.message_of("input_required", result)
    }

    /// The message that continues the call as a task. Only for modern clients that declare tasks.
    pub fn task(&self, task: Value) -> Value {
        self.message_of("task", task)
    }

    /// The message with this result.
    pub fn message(&self, result: Value) -> Value {
        self.message_of("complete", result)
    }

    fn message_of(&self, kind: &str, result: Value) -> Value {
        let mut members = members(result);
        if let Era::Modern(_) = self.era {
            members.insert("resultType".to_owned(), json!(kind));
            let said = members.entry("_meta").or_insert_with(|| json!({}));
            if let Value::Object(said) = said {
                said.insert(meta::SERVER_INFO.to_owned(), self.server.to_json());
            }
        }
        json!({"jsonrpc": "2.0", "id": self.id, "result": members})
    }

    /// The message of an error.
    pub fn error_message(&self, error: &RpcError) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "error": error.to_json()})
    }

    /// The answer with an error, with the error's HTTP status in the protocol.
    pub fn error(&self, error: &RpcError) -> HttpResponse {
        let status = match (error.code, self.era) {
            (code::PARSE | code::INVALID_REQUEST, _) => 400,
            (code::METHOD_NOT_FOUND, Era::Modern(_)) => 404,
            (code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION, _) => {
                400
            }
            _ => 200,
        };
        self.refused(status, error)
    }

    /// The answer with an error and this status.
    pub fn refused(&self, status: u16, error: &RpcError) -> HttpResponse {
        HttpResponse::json(status, self.error_message(error).to_string())
    }

    /// The notification of progress for a request with this token. `progress` must rise from one notification to the
    /// next.
    pub fn progress(&self, token: &Value, progress: u64, message: &str) -> Value {
        let mut params = json!({"progressToken": token, "progress": progress});
        if let (false, Value::Object(params)) = (message.is_empty(), &mut params) {
            params.insert("message".to_owned(), json!(message));
        }
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    }
}

/// The questions in the form of `inputRequests`, by their keys.
pub fn input_requests(questions: &[Question]) -> Map<String, Value> {
    let request = |question: &Question| {
        let request = json!({"method": "elicitation/create", "params": question.to_json()});
        (question.key.clone(), request)
    };
    questions.iter().map(request).collect()
}

impl Capabilities {
    /// True if a client with these capabilities can show a question to its user.
    pub fn can_show(self, question: &Question) -> bool {
        match question.kind {
            QuestionKind::Form(_) => self.forms,
            QuestionKind::Url(_) => self.urls,
        }
    }
}

fn members(result: Value) -> Map<String, Value> {
    match result {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
