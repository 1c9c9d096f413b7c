//! The errors of calls to other agents.

use std::fmt;

use serde_json::Value;

use crate::http::HttpError;
use crate::model::decode::FieldViolation;

/// The reason why a call to another agent failed.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientError {
    /// The agent has refused the call with an error of the protocol.
    Remote(Box<RemoteError>),
    /// There is no answer, or the protocol does not define its status or form.
    Http(HttpError),
    /// The server is overloaded or limits requests.
    Busy {
        /// The failure.
        error: HttpError,
        /// The delay before the next request, in milliseconds, if the server reports a delay.
        retry_after_ms: Option<u64>,
    },
    /// The card cannot be used, for this reason.
    Card(String),
    /// The card cannot be used, because these fields are missing or wrong.
    UnfitCard(Vec<FieldViolation>),
    /// The agent has no interface that this client supports; the text lists the agent's interfaces.
    NoInterface(String),
    /// The agent's version of the protocol does not have this operation; the text names the version and the operation.
    /// Nothing was sent.
    NotInVersion(String),
    /// The agent's answer does not match the request.
    Unexpected(String),
    /// The stream ended although the task is neither finished nor interrupted.
    Ended,
    /// A secret or a setting is missing, or credentials cannot be obtained.
    Credentials(String),
    /// The settings cannot be used, for this reason.
    Settings(String),
    /// The deadline has passed.
    Timeout,
    /// The depth of the message (the number of agent-to-agent calls before the message) is over the limit; nothing was
    /// sent.
    TooDeep {
        /// The depth.
        depth: u32,
        /// The limit.
        limit: u32,
    },
}

/// An error of the protocol from a remote agent.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteError {
    /// The JSON-RPC code, for example -32001; for an error over HTTP+JSON, the JSON-RPC code of the same error.
    pub code: i32,
    /// The error's message.
    pub message: String,
    /// The error's details (spec §5.4).
    pub data: Option<Value>,
    /// The HTTP status of the answer.
    pub status: u16,
}

impl RemoteError {
    /// True if the error mentions a difference between the versions: `kind` and `type` of parts, or the names of roles.
    fn names_another_version(&self) -> bool {
        let data = self.data.as_ref().map(Value::to_string).unwrap_or_default();
        let has = |word: &str| self.message.contains(word) || data.contains(word);
        ["kind", "ROLE_", "discriminator", "contextId", "sessionId", "A2A-Version"]
            .into_iter()
            .any(has)
    }
}

impl ClientError {
    pub(super) fn unexpected(operation: &str) -> Self {
        Self::Unexpected(format!("the agent answered {operation} with something else"))
    }

    /// True if the server seems to support only another version of the protocol: it does not know the method or path,
    /// refuses the version, or requires members of another version. Such a request has had no effect.
    pub fn looks_like_other_version(&self) -> bool {
        match self {
            Self::Remote(error) => match error.code {
                -32601 | -32009 => true,
                -32600 | -32602 => error.names_another_version(),
                _ => false,
            },
            Self::Http(HttpError::Status { status, .. }) => matches!(status, 404 | 405 | 501),
            _ => false,
        }
    }

    /// True if the same request may succeed later.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Busy { .. } => true,
            Self::Remote(error) => is_passing(error.status),
            Self::Http(HttpError::Failed { .. } | HttpError::Silent { .. }) => true,
            Self::Http(HttpError::Status { status, .. }) => is_passing(*status),
            _ => false,
        }
    }
}

/// True if the status is temporary, so that the same request may succeed later.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 502..=504)
}

impl fmt::Display for ClientError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote(error) => {
                write!(out, "the agent refused: {} ({})", error.message, error.code)
            }
            Self::Http(error) | Self::Busy { error, .. } => write!(out, "{error}"),
            Self::Card(reason) => write!(out, "the card cannot be used: {reason}"),
            Self::UnfitCard(fields) => {
                let line = |one: &FieldViolation| format!("{} {}", one.field, one.description);
                let lines: Vec<String> = fields.iter().map(line).collect();
                write!(out, "the card cannot be used: {}", lines.join("; ").trim_start())
            }
            Self::NoInterface(reason)
            | Self::NotInVersion(reason)
            | Self::Unexpected(reason)
            | Self::Credentials(reason)
            | Self::Settings(reason) => out.write_str(reason),
            Self::Ended => out.write_str("the stream ended before the task did"),
            Self::Timeout => out.write_str("the time is over"),
            Self::TooDeep { depth, limit } => {
                write!(
                    out,
                    "not sent: agents may call each other {limit} deep, and this would be {depth}"
                )
            }
        }
    }
}

impl std::error::Error for ClientError {}

impl From<HttpError> for ClientError {
    fn from(error: HttpError) -> Self {
        Self::Http(error)
    }
}
