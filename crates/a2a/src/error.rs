//! Every failure that the protocol names, and the one table that puts it on the wire (spec §3.3.2,
//! §5.4).

use std::fmt;

use serde_json::{Map, Value, json};

use crate::model::{FieldViolation, TaskId, TaskState};

/// A refused request, or one that could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such task for this caller.
    TaskNotFound(TaskId),
    /// The task has ended and cannot be canceled.
    TaskNotCancelable {
        /// The task.
        id: TaskId,
        /// How it ended.
        state: TaskState,
    },
    /// The task is not at the generation that the call was to find it at.
    GenerationMismatch {
        /// The task.
        id: TaskId,
        /// The generation that the caller expects.
        expected: u64,
        /// The one that the task is at.
        generation: u64,
    },
    /// The agent sends no webhooks.
    PushNotificationNotSupported,
    /// The agent does not offer this, or not for this task.
    UnsupportedOperation(String),
    /// The content is of a kind that is not taken.
    ContentTypeNotSupported(String),
    /// The agent broke the protocol.
    InvalidAgentResponse(String),
    /// A message must come with these extensions (their URIs) in use.
    ExtensionSupportRequired(Vec<String>),
    /// This version of the protocol is not spoken here.
    VersionNotSupported(String),
    /// The body is not JSON.
    JsonParse(String),
    /// The body is JSON, but no request.
    InvalidRequest(String),
    /// The body is larger than this many bytes.
    TooLarge(usize),
    /// The body broke off before its end.
    BodyIncomplete,
    /// The body did not come in time.
    BodyTimeout,
    /// The bodies that come in at the moment take all the memory there is for them.
    TooManyBodies,
    /// There is no such method.
    MethodNotFound(String),
    /// Parameters that do not fit.
    InvalidParams(Vec<FieldViolation>),
    /// Nothing is served at this path.
    NotFound(String),
    /// The path does not take this HTTP method; these it takes.
    MethodNotAllowed(&'static str),
    /// The task is followed by as many streams as it may be.
    TooManyStreams(usize),
    /// The caller has as many unfinished tasks as it may have.
    TooManyTasks(u64),
    /// What is needed for this is not there at the moment. The cause went to the log.
    Unavailable(&'static str),
    /// What the build embedded of the agents cannot be read. The cause went to the log.
    NoAgents,
    /// Something broke on our side. The cause went to the log.
    Internal {
        /// The task that was touched, if it exists.
        task: Option<TaskId>,
    },
}

/// How an error looks on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The JSON-RPC error code.
    pub code: i32,
    /// The HTTP status of the HTTP+JSON binding.
    pub http: u16,
    /// The gRPC status name.
    pub status: &'static str,
    /// The reason in ErrorInfo.
    pub reason: &'static str,
}

impl Error {
    /// An [`Error::InvalidParams`] with one violation.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::InvalidParams(vec![FieldViolation::new(field, description)])
    }

    /// The error as each binding shows it (spec §5.4).
    pub fn wire(&self) -> Wire {
        let (code, http, status, reason) = match self {
            Self::TaskNotFound(_) => (-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
            Self::TaskNotCancelable { .. } => {
                (-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE")
            }
            Self::GenerationMismatch { .. } => (-32010, 409, "ABORTED", "GENERATION_MISMATCH"),
            Self::PushNotificationNotSupported => {
                (-32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED")
            }
            Self::UnsupportedOperation(_) => {
                (-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION")
            }
            // The status 400 of spec §5.4 is for content; a refused Content-Type header is 415.
            Self::ContentTypeNotSupported(_) => {
                (-32005, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED")
            }
            Self::InvalidAgentResponse(_) => (-32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE"),
            Self::ExtensionSupportRequired(_) => {
                (-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED")
            }
            Self::VersionNotSupported(_) => {
                (-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED")
            }
            Self::JsonParse(_) => (-32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR"),
            Self::InvalidRequest(_) => (-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
            Self::TooLarge(_) => (-32600, 413, "INVALID_ARGUMENT", "REQUEST_TOO_LARGE"),
            Self::BodyIncomplete => (-32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR"),
            Self::BodyTimeout => (-32600, 408, "DEADLINE_EXCEEDED", "REQUEST_TIMEOUT"),
            Self::TooManyBodies => (-32603, 503, "UNAVAILABLE", "TOO_MANY_BODIES"),
            Self::MethodNotFound(_) => (-32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND"),
            Self::InvalidParams(_) => (-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
            Self::NotFound(_) => (-32601, 404, "NOT_FOUND", "NOT_FOUND"),
            Self::MethodNotAllowed(_) => (-32601, 405, "INVALID_ARGUMENT", "METHOD_NOT_ALLOWED"),
            Self::TooManyStreams(_) => (-32603, 429, "RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS"),
            Self::TooManyTasks(_) => (-32603, 429, "RESOURCE_EXHAUSTED", "TOO_MANY_TASKS"),
            Self::Unavailable(_) => (-32603, 503, "UNAVAILABLE", "UNAVAILABLE"),
            Self::NoAgents | Self::Internal { .. } => (-32603, 500, "INTERNAL", "INTERNAL_ERROR"),
        };
        Wire { code, http, status, reason }
    }

    /// After how many seconds the same request may succeed, where waiting helps: `Retry-After`.
    pub fn retry_after_s(&self) -> Option<u32> {
        match self {
            Self::Unavailable(_) | Self::TooManyTasks(_) => Some(RETRY_AFTER_S),
            // Other bodies are gone as soon as they have come.
            Self::TooManyBodies => Some(1),
            _ => None,
        }
    }

    /// Whether the request could not be received, so that over JSON-RPC, too, HTTP tells of it.
    pub fn is_of_transfer(&self) -> bool {
        matches!(
            self,
            Self::TooLarge(_) | Self::BodyIncomplete | Self::BodyTimeout | Self::TooManyBodies
        )
    }

    /// The details that go with the error: an ErrorInfo, and a BadRequest for wrong parameters.
    pub fn details(&self) -> Vec<Value> {
        let mut info = Map::new();
        info.insert("@type".to_owned(), json!("type.googleapis.com/google.rpc.ErrorInfo"));
        info.insert("reason".to_owned(), json!(self.wire().reason));
        info.insert("domain".to_owned(), json!("a2a-protocol.org"));
        if let Some(id) = self.task() {
            let mut metadata = Map::new();
            metadata.insert("taskId".to_owned(), json!(id));
            if let Self::GenerationMismatch { expected, generation, .. } = self {
                for (name, value) in [("expected", expected), ("generation", generation)] {
                    metadata.insert(name.to_owned(), json!(value.to_string()));
                }
            }
            info.insert("metadata".to_owned(), Value::Object(metadata));
        }
        let mut details = vec![Value::Object(info)];
        if let Self::InvalidParams(violations) = self {
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": violations,
            }));
        }
        details
    }

    fn task(&self) -> Option<&TaskId> {
        match self {
            Self::TaskNotFound(id)
            | Self::TaskNotCancelable { id, .. }
            | Self::GenerationMismatch { id, .. } => Some(id),
            Self::Internal { task } => task.as_ref(),
            Self::PushNotificationNotSupported
            | Self::UnsupportedOperation(_)
            | Self::ContentTypeNotSupported(_)
            | Self::InvalidAgentResponse(_)
            | Self::ExtensionSupportRequired(_)
            | Self::VersionNotSupported(_)
            | Self::JsonParse(_)
            | Self::InvalidRequest(_)
            | Self::TooLarge(_)
            | Self::BodyIncomplete
            | Self::BodyTimeout
            | Self::TooManyBodies
            | Self::MethodNotFound(_)
            | Self::InvalidParams(_)
            | Self::NotFound(_)
            | Self::MethodNotAllowed(_)
            | Self::TooManyStreams(_)
            | Self::TooManyTasks(_)
            | Self::Unavailable(_)
            | Self::NoAgents => None,
        }
    }
}

impl fmt::Display for Error {
    /// The message for the client: what is wrong, and what to do about it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TaskNotFound(_) => out.write_str("task not found"),
            Self::TaskNotCancelable { state, .. } => {
                write!(out, "the task is {state} and cannot be canceled any more")
            }
            Self::GenerationMismatch { expected, generation, .. } => write!(
                out,
                "the task is at generation {generation}, not {expected}; get it and decide again"
            ),
            Self::PushNotificationNotSupported => {
                out.write_str("push notifications are not supported by this agent")
            }
            Self::UnsupportedOperation(what)
            | Self::ContentTypeNotSupported(what)
            | Self::InvalidAgentResponse(what)
            | Self::VersionNotSupported(what)
            | Self::NotFound(what) => out.write_str(what),
            Self::ExtensionSupportRequired(uris) => write!(
                out,
                "this agent requires extensions; send the header A2A-Extensions: {}",
                uris.join(", ")
            ),
            Self::JsonParse(what) => write!(out, "the body is not valid JSON: {what}"),
            Self::InvalidRequest(what) => write!(out, "invalid request: {what}"),
            Self::TooLarge(limit) => write!(out, "the body is larger than {limit} bytes"),
            Self::BodyIncomplete => out.write_str("the body broke off before its end"),
            Self::BodyTimeout => out.write_str("the body did not come in time"),
            Self::TooManyBodies => {
                out.write_str("too many requests are being received; send this one again")
            }
            Self::MethodNotFound(method) => write!(out, "there is no method {method:?}"),
            Self::InvalidParams(violations) => {
                out.write_str("invalid parameters: ")?;
                for (index, violation) in violations.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    let FieldViolation { field, description } = violation;
                    let space = if field.is_empty() { "" } else { " " };
                    write!(out, "{separator}{field}{space}{description}")?;
                }
                Ok(())
            }
            Self::MethodNotAllowed(allowed) => {
                write!(out, "this path does not take that HTTP method; it takes {allowed}")
            }
            Self::TooManyStreams(limit) => {
                write!(out, "the task is followed by {limit} streams, which is the limit")
            }
            Self::TooManyTasks(limit) => write!(
                out,
                "you have {limit} unfinished tasks, which is the limit; finish or cancel some, or wait"
            ),
            Self::Unavailable(what) => out.write_str(what),
            Self::NoAgents => {
                out.write_str("the agents of this build cannot be read; the log says why")
            }
            Self::Internal { .. } => out.write_str("internal error"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Vec<FieldViolation>> for Error {
    fn from(violations: Vec<FieldViolation>) -> Self {
        Self::InvalidParams(violations)
    }
}

/// How long a client is asked to wait for what is not available.
const RETRY_AFTER_S: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocol_errors_carry_the_codes_of_the_specification() {
        let id = TaskId::new("t");
        for (error, code, http) in [
            (Error::TaskNotFound(id.clone()), -32001, 404),
            (Error::TaskNotCancelable { id: id.clone(), state: TaskState::Completed }, -32002, 400),
            (Error::GenerationMismatch { id, expected: 5, generation: 7 }, -32010, 409),
            (Error::PushNotificationNotSupported, -32003, 400),
            (Error::UnsupportedOperation(String::new()), -32004, 400),
            (Error::ContentTypeNotSupported(String::new()), -32005, 415),
            (Error::InvalidAgentResponse(String::new()), -32006, 500),
            (Error::ExtensionSupportRequired(Vec::new()), -32008, 400),
            (Error::VersionNotSupported(String::new()), -32009, 400),
            (Error::JsonParse(String::new()), -32700, 400),
            (Error::InvalidRequest(String::new()), -32600, 400),
            (Error::MethodNotFound(String::new()), -32601, 404),
            (Error::InvalidParams(Vec::new()), -32602, 400),
            (Error::TooManyTasks(3), -32603, 429),
            (Error::NoAgents, -32603, 500),
            (Error::Unavailable(""), -32603, 503),
            (Error::Internal { task: None }, -32603, 500),
        ] {
            assert_eq!((error.wire().code, error.wire().http), (code, http), "{error:?}");
            assert_eq!(error.details()[0]["domain"], "a2a-protocol.org");
            assert_eq!(error.details()[0]["reason"], error.wire().reason);
        }
    }

    #[test]
    fn a_mismatch_tells_both_generations() {
        let error = Error::GenerationMismatch { id: TaskId::new("t"), expected: 5, generation: 7 };
        assert_eq!(
            error.details()[0]["metadata"],
            json!({"taskId": "t", "expected": "5", "generation": "7"})
        );
        assert_eq!(
            error.to_string(),
            "the task is at generation 7, not 5; get it and decide again"
        );
    }

    #[test]
    fn wrong_parameters_are_listed() {
        let error = Error::invalid("message.parts", "needs at least one part");
        assert_eq!(
            error.details()[1],
            json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations":
                    [{"field": "message.parts", "description": "needs at least one part"}],
            })
        );
        assert_eq!(error.to_string(), "invalid parameters: message.parts needs at least one part");
    }
}
