//! The errors of requests to a model.

use std::fmt;

/// The error of a request to a model. The text is for people; it contains no secrets, and its quotes of the provider
/// are shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatError {
    /// The kind of the error.
    pub kind: ChatErrorKind,
    /// A description that begins in lower case.
    pub text: String,
    /// The delay before the next request that the provider requires, if any, in milliseconds. It has no upper limit.
    pub retry_after_ms: Option<u64>,
}

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatErrorKind {
    /// The request was not sent: the endpoint is forbidden, or a binding is missing.
    NotSent,
    /// The provider cannot be reached, or the connection broke before the answer began.
    Unreachable,
    /// Nothing arrived in time.
    Silent,
    /// The credentials are missing or wrong, or have no access to the model (401, 403).
    Unauthorized,
    /// The model or the URL does not exist (404), or the URL redirects (3xx).
    NotFound,
    /// Too many requests or tokens at the moment (429).
    RateLimited,
    /// The account has no credit left (402, or 429 with such a reason).
    QuotaExhausted,
    /// The conversation is longer than the model accepts.
    ContextTooLong,
    /// A filter of the provider refuses the request.
    ContentFilter,
    /// The provider refuses the request for another reason (4xx).
    BadRequest,
    /// The provider failed (5xx, 408, 409, 425), or reports a failure within its answer.
    ServerError,
    /// The provider is overloaded (503, 529).
    Overloaded,
    /// The answer is not JSON, or is not the answer of chat completions.
    Malformed,
    /// The answer broke off or ended before it was complete.
    CutOff,
    /// The answer is too large.
    TooLarge,
}

impl ChatError {
    pub(crate) fn new(kind: ChatErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), retry_after_ms: None }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }
}

impl ChatErrorKind {
    /// A word for the kind, for logs and traces: `rate_limited`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::Unreachable => "unreachable",
            Self::Silent => "silent",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::ContextTooLong => "context_too_long",
            Self::ContentFilter => "content_filter",
            Self::BadRequest => "bad_request",
            Self::ServerError => "server_error",
            Self::Overloaded => "overloaded",
            Self::Malformed => "malformed",
            Self::CutOff => "cut_off",
            Self::TooLarge => "too_large",
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::Unreachable
            | Self::Silent
            | Self::RateLimited
            | Self::ServerError
            | Self::Overloaded
            | Self::CutOff => true,
            Self::NotSent
            | Self::Unauthorized
            | Self::NotFound
            | Self::QuotaExhausted
            | Self::ContextTooLong
            | Self::ContentFilter
            | Self::BadRequest
            | Self::Malformed
            | Self::TooLarge => false,
        }
    }
}

impl fmt::Display for ChatError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for ChatError {}
