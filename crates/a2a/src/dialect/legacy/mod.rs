//! A2A 0.1: the `tasks/send` family over JSON-RPC, and the plain pair `/a2a/tasks/…`.

use serde_json::Value;

use super::{Habits, ReadCall, StreamPiece, StreamState};
use crate::binding::Binding;
use crate::binding::http::HttpResponse;
use crate::error::Error;
use crate::model::{StreamResponse, Task, UnixMillis};
use crate::{Operation, Outcome};

/// See [`Dialect::decode`](super::Dialect::decode).
pub(super) fn decode(
    _binding: Binding,
    _operation: Operation,
    _params: Value,
) -> Result<ReadCall, Error> {
    Err(Error::Internal { task: None })
}

/// See [`Dialect::result`](super::Dialect::result).
pub(super) fn result(
    _binding: Binding,
    _habits: Habits,
    _outcome: &Outcome,
) -> Result<Option<String>, Error> {
    Err(Error::Internal { task: None })
}

/// See [`Dialect::notification`](super::Dialect::notification).
pub(super) fn notification(_event: &str, _task: &Task, _now: UnixMillis) -> Option<String> {
    None
}

/// See [`Dialect::piece`](super::Dialect::piece).
pub(super) fn piece(_event: &StreamResponse, _state: &mut StreamState) -> Option<StreamPiece> {
    None
}

/// The code of an error over JSON-RPC.
pub(super) fn error_code(error: &Error) -> i32 {
    error.wire().code
}

/// The answer of the plain pair with an error.
pub(super) fn rest_error(error: &Error) -> HttpResponse {
    HttpResponse::error(error)
}
