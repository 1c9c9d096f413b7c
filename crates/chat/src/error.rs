//! Why a model gave no answer.

use std::fmt;

/// Why a model gave no answer. The text is for people; it holds no secrets, and what it quotes of the provider is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatError {
    /// What went wrong.
    pub kind: ChatErrorKind,
    /// The same in words, beginning in lower case.
    pub text: String,
    /// How long the provider wants to be left alone, if it says, in milliseconds. It has no bound.
    pub retry_after_ms: Option<u64>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatErrorKind {
    /// The request was not sent: the endpoint must not be called, or a binding is missing.
    NotSent,
    /// The provider cannot be reached, or the connection broke before its answer began.
    Unreachable,
    /// Nothing came in time.
    Silent,
    /// The credentials are missing or wrong, or may not use the model (401, 403).
    Unauthorized,
    /// There is no such model, or no such URL (404), or it leads elsewhere (3xx).
    NotFound,
    /// Too many requests or tokens for now (429).
    RateLimited,
    /// The account is out of credit (402, or 429 that says so).
    QuotaExhausted,
    /// The conversation is longer than the model takes.
    ContextTooLong,
    /// A filter of the provider refuses the request.
    ContentFilter,
    /// The provider refuses the request for another reason (4xx).
    BadRequest,
    /// The provider fails (5xx, 408, 409, 425), or says so within its answer.
    ServerError,
    /// The provider has too much to do (503, 529).
    Overloaded,
    /// The answer is none: no JSON, or not one of chat completions.
    Malformed,
    /// The answer broke off or ended in the middle.
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
