//! The only table of the wire forms of errors: codes, statuses and headers (spec §5.4, §9.5, §11.6).

use super::{Error, Refusal};
use crate::terms::Quota;

/// The wire form of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The JSON-RPC error code.
    pub code: i32,
    /// The HTTP status of the HTTP+JSON binding.
    pub http: u16,
    /// The HTTP status of the JSON-RPC binding: 200, except for a request that HTTP itself refuses.
    pub json_rpc_http: u16,
    /// The gRPC status name.
    pub status: &'static str,
    /// The reason in ErrorInfo.
    pub reason: &'static str,
    /// The headers of the error in every binding, with names in lower case.
    pub headers: Vec<(&'static str, String)>,
}

impl Wire {
    fn new(code: i32, http: u16, status: &'static str, reason: &'static str) -> Self {
        Self { code, http, json_rpc_http: 200, status, reason, headers: Vec::new() }
    }

    /// Sets the HTTP status of the JSON-RPC binding to that of HTTP+JSON.
    fn also_over_json_rpc(self) -> Self {
        Self { json_rpc_http: self.http, ..self }
    }

    fn with_header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// Sets the HTTP status of the JSON-RPC binding, and the header with the challenges. Several
    /// challenges are joined in one header.
    fn challenged(self, refusal: &Refusal) -> Self {
        let wire = self.also_over_json_rpc();
        if refusal.challenges.is_empty() {
            wire
        } else {
            wire.with_header("www-authenticate", refusal.challenges.join(", "))
        }
    }

    /// Adds the time after which the same request may succeed.
    fn retry_after_s(self, seconds: u32) -> Self {
        self.with_header("retry-after", seconds)
    }
}

impl Error {
    /// The error in the form of each binding (spec §5.4).
    pub fn wire(&self) -> Wire {
        match self {
            Self::TaskNotFound(_) => Wire::new(-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
            Self::TaskNotCancelable { .. } => {
                Wire::new(-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE")
            }
            Self::PushNotificationNotSupported => {
                Wire::new(-32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED")
            }
            Self::UnsupportedOperation(_) | Self::TaskFinished(_) => {
                Wire::new(-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION")
            }
            // The status 400 of spec §5.4 is for content; a refused Content-Type header is 415.
            Self::ContentTypeNotSupported(_) => {
                Wire::new(-32005, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED")
            }
            Self::PartNotAccepted(_) => {
                Wire::new(-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED")
            }
            Self::InvalidAgentResponse(_) => {
                Wire::new(-32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE")
            }
            Self::ExtendedAgentCardNotConfigured => {
                Wire::new(-32007, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED")
            }
            Self::ExtensionSupportRequired(_) => {
                Wire::new(-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED")
            }
            Self::VersionNotSupported(_) => {
                Wire::new(-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED")
            }
            Self::GenerationMismatch { .. } => {
                Wire::new(-32010, 409, "ABORTED", "GENERATION_MISMATCH")
            }
            Self::JsonParse(_) => Wire::new(-32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR"),
            Self::InvalidRequest(_) => {
                Wire::new(-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST")
            }
            Self::TooLarge(_) => {
                Wire::new(-32600, 413, "INVALID_ARGUMENT", "REQUEST_TOO_LARGE").also_over_json_rpc()
            }
            Self::NoRoom(_) => Wire::new(-32600, 413, "RESOURCE_EXHAUSTED", "NO_ROOM"),
            Self::BodyIncomplete => {
                Wire::new(-32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR").also_over_json_rpc()
            }
            Self::BodyTimeout => {
                Wire::new(-32600, 408, "DEADLINE_EXCEEDED", "REQUEST_TIMEOUT").also_over_json_rpc()
            }
            // Other bodies are released as soon as they are complete, so a retry is soon possible.
            Self::TooManyBodies => Wire::new(-32603, 503, "UNAVAILABLE", "TOO_MANY_BODIES")
                .also_over_json_rpc()
                .retry_after_s(1),
            Self::MethodNotFound(_) | Self::OtherVersionsName(_) => {
                Wire::new(-32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND")
            }
            Self::InvalidParams(_) | Self::WebhookRefused(_) => {
                Wire::new(-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS")
            }
            Self::NotFound(_) => Wire::new(-32601, 404, "NOT_FOUND", "NOT_FOUND"),
            Self::MethodNotAllowed(allowed) => {
                Wire::new(-32601, 405, "INVALID_ARGUMENT", "METHOD_NOT_ALLOWED")
                    .with_header("allow", allowed)
            }
            Self::TooManyStreams(_) => {
                Wire::new(-32603, 429, "RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS")
            }
            Self::TooManyStreamsOfCaller(_) => {
                Wire::new(-32603, 429, "RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS")
                    .retry_after_s(RETRY_AFTER_S)
            }
            Self::OverQuota(quota) => {
                let reason = match quota {
                    Quota::Tasks(_) | Quota::AgentTasks(_) => "TOO_MANY_TASKS",
                    Quota::StoredBytes(_) => "TOO_MUCH_STORED",
                };
                Wire::new(-32603, 429, "RESOURCE_EXHAUSTED", reason).retry_after_s(RETRY_AFTER_S)
            }
            Self::UsedUp(used_up) => Wire::new(-32603, 429, "RESOURCE_EXHAUSTED", "USED_UP")
                .retry_after_s(used_up.seconds),
            Self::Unauthenticated(refusal) => {
                Wire::new(-32000, 401, "UNAUTHENTICATED", "UNAUTHENTICATED").challenged(refusal)
            }
            Self::PermissionDenied(refusal) => {
                Wire::new(-32000, 403, "PERMISSION_DENIED", "PERMISSION_DENIED").challenged(refusal)
            }
            Self::RateLimited(seconds) => {
                Wire::new(-32603, 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED")
                    .also_over_json_rpc()
                    .retry_after_s(*seconds)
            }
            Self::Unavailable(_) => {
                Wire::new(-32603, 503, "UNAVAILABLE", "UNAVAILABLE").retry_after_s(RETRY_AFTER_S)
            }
            Self::NoAgents | Self::AgentUnusable(_) | Self::Internal { .. } => {
                Wire::new(-32603, 500, "INTERNAL", "INTERNAL_ERROR")
            }
        }
    }
}

/// The delay after which a client may repeat a request that failed because a service was not
/// available.
const RETRY_AFTER_S: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FieldViolation, TaskId, TaskState};
    use crate::terms::{DayLimit, UsedUp};

    const USED_UP: UsedUp = UsedUp { limit: DayLimit::Tokens(9), seconds: 77 };

    #[test]
    fn protocol_errors_carry_the_codes_of_the_specification() {
        let id = TaskId::new("t").unwrap();
        for (error, code, http) in [
            (Error::TaskNotFound(id.clone()), -32001, 404),
            (Error::TaskNotCancelable { id: id.clone(), state: TaskState::Completed }, -32002, 400),
            (Error::GenerationMismatch { id, expected: 5, generation: 7 }, -32010, 409),
            (Error::PushNotificationNotSupported, -32003, 400),
            (Error::UnsupportedOperation(String::new()), -32004, 400),
            (Error::TaskFinished(TaskState::Completed), -32004, 400),
            (Error::ContentTypeNotSupported(String::new()), -32005, 415),
            (Error::PartNotAccepted(Box::new(FieldViolation::new("p", ""))), -32005, 400),
            (Error::InvalidAgentResponse(String::new()), -32006, 500),
            (Error::ExtendedAgentCardNotConfigured, -32007, 400),
            (Error::ExtensionSupportRequired(Vec::new()), -32008, 400),
            (Error::VersionNotSupported(String::new()), -32009, 400),
            (Error::JsonParse(String::new()), -32700, 400),
            (Error::InvalidRequest(String::new()), -32600, 400),
            (Error::MethodNotFound(String::new()), -32601, 404),
            (Error::OtherVersionsName(String::new()), -32601, 404),
            (Error::InvalidParams(Vec::new()), -32602, 400),
            (Error::OverQuota(Quota::Tasks(3)), -32603, 429),
            (Error::UsedUp(USED_UP), -32603, 429),
            (Error::TooManyStreams(3), -32603, 429),
            (Error::NoAgents, -32603, 500),
            (Error::AgentUnusable(String::new()), -32603, 500),
            (Error::Unavailable(""), -32603, 503),
            (Error::Internal { task: None }, -32603, 500),
        ] {
            assert_eq!((error.wire().code, error.wire().http), (code, http), "{error:?}");
            assert_eq!(error.details()[0]["domain"], "a2a-protocol.org");
            assert_eq!(error.details()[0]["reason"], error.wire().reason);
        }
    }

    #[test]
    fn http_tells_of_a_request_that_was_not_received_over_json_rpc_too() {
        for (error, status) in [
            (Error::TooLarge(1), 413),
            (Error::BodyIncomplete, 400),
            (Error::BodyTimeout, 408),
            (Error::TooManyBodies, 503),
            (Error::OverQuota(Quota::StoredBytes(1)), 200),
            (Error::UsedUp(USED_UP), 200),
            (Error::Unavailable(""), 200),
            (Error::Internal { task: None }, 200),
        ] {
            assert_eq!(error.wire().json_rpc_http, status, "{error:?}");
        }
    }

    #[test]
    fn errors_that_pass_tell_when_to_try_again() {
        for (error, headers) in [
            (Error::OverQuota(Quota::AgentTasks(1)), vec![("retry-after", "5".to_owned())]),
            (Error::UsedUp(USED_UP), vec![("retry-after", "77".to_owned())]),
            (Error::Unavailable(""), vec![("retry-after", "5".to_owned())]),
            (Error::TooManyBodies, vec![("retry-after", "1".to_owned())]),
            (Error::MethodNotAllowed("GET"), vec![("allow", "GET".to_owned())]),
            (Error::TooManyStreams(1), Vec::new()),
            (Error::TooManyStreamsOfCaller(1), vec![("retry-after", "5".to_owned())]),
            (Error::TaskNotFound(TaskId::new("t").unwrap()), Vec::new()),
        ] {
            assert_eq!(error.wire().headers, headers, "{error:?}");
        }
    }
}
