//! A2A 0.3, of which 0.2 is a part: `kind` over JSON-RPC, and the ProtoJSON of its proto over HTTP+JSON.

use serde_json::Value;

use super::{Habits, ReadCall, StreamPiece};
use crate::binding::Binding;
use crate::binding::http::HttpResponse;
use crate::error::Error;
use crate::model::{StreamResponse, Task};
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
pub(super) fn notification(_task: &Task) -> Option<String> {
    None
}

/// See [`Dialect::piece`](super::Dialect::piece).
pub(super) fn piece(
    _binding: Binding,
    _habits: Habits,
    _event: &StreamResponse,
) -> Option<StreamPiece> {
    None
}

/// The answer with an error over HTTP+JSON.
pub(super) fn rest_error(error: &Error) -> HttpResponse {
    HttpResponse::error(error)
}
