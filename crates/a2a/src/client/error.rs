//! Why a call to another agent failed.

use std::fmt;

use serde_json::Value;

use crate::http::HttpError;
use crate::model::decode::FieldViolation;

/// Why a call to another agent failed.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientError {
    /// The agent refused it, with an error of the protocol.
    Remote(Box<RemoteError>),
    /// There is no answer, or its status or form is none of the protocol.
    Http(HttpError),
    /// The server is overloaded or limits requests, and wants to be left alone for this many milliseconds.
    Busy {
        /// The failure.
        error: HttpError,
        /// How long to wait, if the server says.
        retry_after_ms: Option<u64>,
    },
    /// The card cannot be used, for this reason.
    Card(String),
    /// The card cannot be used, because these of its fields are missing or wrong.
    UnfitCard(Vec<FieldViolation>),
    /// The agent offers no interface that can be called; the text says which it offers.
    NoInterface(String),
    /// The version of the protocol that the agent speaks has no such operation; the text names both. Nothing was sent.
    NotInVersion(String),
    /// What the agent said makes no sense here.
    Unexpected(String),
    /// The stream ended, and the task is neither finished nor waiting for somebody.
    Ended,
    /// A secret or a setting is missing, or credentials cannot be had.
    Credentials(String),
    /// The settings cannot be used, for this reason.
    Settings(String),
    /// The time is over.
    Timeout,
    /// More agents have called each other in a row than may; nothing was sent.
    TooDeep {
        /// How many have.
        depth: u32,
        /// How many may.
        limit: u32,
    },
}

/// An error of the protocol as a remote agent sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteError {
    /// Its code of JSON-RPC, as -32001; where it came over HTTP+JSON, the code that JSON-RPC has for it.
    pub code: i32,
    /// Its message.
    pub message: String,
    /// Its details (spec §5.4).
    pub data: Option<Value>,
    /// The status of HTTP that it came with.
    pub status: u16,
}

impl RemoteError {
    /// Whether it complains about what tells the versions apart: `kind` and `type` of parts, and the names of roles.
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

    /// Whether the server seems to speak another version of the protocol than the request was written in: it knows neither the
    /// method nor the path, refuses the version, or misses what another version has. The request began nothing then.
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

    /// Whether the same request may succeed later.
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

/// Whether a status says that the same request may succeed later.
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
