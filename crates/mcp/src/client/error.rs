//! The errors of requests to a server.

use std::fmt;

use a2a::client::ClientError;
use a2a::http::{HttpError, one_line, shown_url};
use a2a::model::UnfitJson;

use crate::model::{RpcError, code};

/// The reason why a request to a server failed. The texts are for people and contain no secrets; quotes of the server
/// are shortened.
#[derive(Clone, Debug, PartialEq)]
pub enum McpError {
    /// There is no answer: the server cannot be reached, does not answer, or is forbidden.
    Unreachable(HttpError),
    /// The answer broke off, for this reason, or ended without the result. The tool may have run.
    Lost(String),
    /// The answer has a failure status, and no error of the protocol.
    Status {
        /// The status.
        status: u16,
        /// The first 200 characters of the body, on one line.
        begins: String,
        /// The delay that the server requires, if any, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The answer is a redirect that is not followed: its target is another host, or it requires another method.
    Redirected {
        /// The status.
        status: u16,
        /// The target, without its query.
        to: String,
    },
    /// The answer is not an MCP answer, for this reason.
    NotMcp(String),
    /// The server supports no revision that this client supports; the text lists the server's revisions.
    Unsupported(String),
    /// The server refused the request with an error of the protocol.
    Rpc {
        /// The server's error.
        error: RpcError,
        /// The HTTP status of the answer.
        status: u16,
    },
    /// The answer is too large.
    TooLarge {
        /// The limit, in bytes.
        max_bytes: usize,
    },
    /// The answer, or a message in it, exceeds the limits for JSON.
    TooMuchJson(UnfitJson),
    /// The time limit of the call, of the list or of the request has passed.
    Timeout {
        /// The time limit, in milliseconds.
        timeout_ms: u64,
    },
    /// The server has lost its session, and then also the new session. The request was not executed.
    SessionLost,
    /// The server refused the credentials (401), or their permissions (403).
    Refused {
        /// The status.
        status: u16,
        /// The server's information: the challenge (`WWW-Authenticate`), and the message of its error. Empty if there is
        /// none.
        reason: String,
    },
    /// A secret is missing, or credentials cannot be obtained.
    Credentials(String),
    /// The settings cannot be used, for this reason.
    Settings(String),
    /// The number of agents that have called each other in a row is over the limit; nothing was sent.
    TooDeep {
        /// The number of agents.
        depth: u32,
        /// The limit.
        limit: u32,
    },
    /// The server's answer does not match the request.
    Unexpected(String),
}

impl McpError {
    /// True if the same request may succeed later.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(HttpError::Failed { .. } | HttpError::Silent { .. })
            | Self::Lost(_)
            | Self::Timeout { .. }
            | Self::SessionLost => true,
            Self::Status { status, .. } => is_passing(*status),
            Self::Rpc { status, .. } => is_passing(*status),
            _ => false,
        }
    }

    /// True if it is certain that the request was not executed: the server refused it, or did not receive it.
    pub fn is_untouched(&self) -> bool {
        match self {
            Self::Status { status, .. } => (300..500).contains(status) || *status == 503,
            Self::Unreachable(HttpError::Refused { .. } | HttpError::Unbound { .. })
            | Self::Redirected { .. }
            | Self::Unsupported(_)
            | Self::SessionLost
            | Self::Refused { .. }
            | Self::Credentials(_)
            | Self::Settings(_)
            | Self::TooDeep { .. } => true,
            Self::Rpc { error, status } => {
                (400..500).contains(status) || REFUSALS.contains(&error.code)
            }
            Self::Unreachable(_)
            | Self::Lost(_)
            | Self::NotMcp(_)
            | Self::TooLarge { .. }
            | Self::TooMuchJson(_)
            | Self::Timeout { .. }
            | Self::Unexpected(_) => false,
        }
    }

    /// The code of the server's error.
    pub(super) fn code(&self) -> Option<i64> {
        match self {
            Self::Rpc { error, .. } => Some(error.code),
            _ => None,
        }
    }
}

/// True if the status is temporary, so that the same request may succeed later.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502..=504)
}

impl fmt::Display for McpError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(error) => write!(out, "{error}"),
            Self::Lost(reason) => {
                write!(out, "the answer was lost: {reason}; the request may have been carried out")
            }
            Self::Status { status, begins, .. } if begins.is_empty() => {
                write!(out, "the server answered {status}")
            }
            Self::Status { status, begins, .. } => {
                write!(out, "the server answered {status}: {begins}")
            }
            Self::Redirected { status, to } => write!(
                out,
                "the server answered {status}, a redirect to {to}, which is not followed; if that is right, it must be the URL"
            ),
            Self::NotMcp(reason) => write!(out, "the answer is none of MCP: {reason}"),
            Self::Rpc { error, .. } => {
                write!(out, "the server refused: {} ({})", excerpt(&error.message), error.code)
            }
            Self::TooLarge { max_bytes } => {
                write!(out, "the answer has more than {max_bytes} bytes")
            }
            Self::TooMuchJson(beyond) => write!(out, "the answer {beyond}"),
            Self::Timeout { timeout_ms } => {
                write!(out, "the server has not finished within {timeout_ms} ms")
            }
            Self::SessionLost => {
                out.write_str("the server has lost its session, and a new one as well")
            }
            Self::Refused { status: 401, reason } if reason.is_empty() => {
                out.write_str("the server refused the credentials (401)")
            }
            Self::Refused { status: 401, reason } => {
                write!(out, "the server refused the credentials (401): {reason}")
            }
            Self::Refused { status, reason } if reason.is_empty() => {
                write!(out, "the server forbids the request ({status})")
            }
            Self::Refused { status, reason } => {
                write!(out, "the server forbids the request ({status}): {reason}")
            }
            Self::Unsupported(reason)
            | Self::Credentials(reason)
            | Self::Settings(reason)
            | Self::Unexpected(reason) => out.write_str(reason),
            Self::TooDeep { depth, limit } => {
                write!(
                    out,
                    "not sent: agents may call each other {limit} deep, and this would be {depth}"
                )
            }
        }
    }
}

impl std::error::Error for McpError {}

impl From<ClientError> for McpError {
    /// An error from adding credentials to a request.
    fn from(error: ClientError) -> Self {
        Self::Credentials(error.to_string())
    }
}

/// The beginning of a text of a server, on one line: at most 200 characters.
pub(super) fn excerpt(text: &str) -> String {
    // Only a beginning is processed, because the text may be large.
    let begin: String = text.chars().take(EXCERPT_CHARS * 4).collect();
    one_line(&begin).chars().take(EXCERPT_CHARS).collect()
}

/// A URL for errors, without the parts that may contain credentials, shortened as by [`excerpt`].
pub(super) fn shown(url: &str) -> String {
    excerpt(&shown_url(url))
}

/// The errors by which servers refuse a request before they start to execute it.
const REFUSALS: [i64; 7] = [
    code::PARSE,
    code::INVALID_REQUEST,
    code::METHOD_NOT_FOUND,
    code::INVALID_PARAMS,
    code::HEADER_MISMATCH,
    code::MISSING_CAPABILITY,
    code::UNSUPPORTED_VERSION,
];

const EXCERPT_CHARS: usize = 200;
