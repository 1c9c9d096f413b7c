//! The options of one call.

use crate::model::UnixMillis;

/// The headers and the deadline of a call, in addition to its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// The header `Idempotency-Key`. If `None`, a send that begins a task uses its message id, so that a server which
    /// supports the header begins only one task for all attempts.
    pub idempotency_key: Option<String>,
    /// The header `Last-Event-ID` of a stream that continues after this event.
    pub last_event_id: Option<String>,
    /// The deadline of the call, including retries, after which it fails with
    /// [`ClientError::Timeout`](super::ClientError::Timeout). If `None`, the limit is
    /// [`timeout_ms`](super::Settings::timeout_ms); for a stream, the limit applies until the stream is open.
    pub deadline: Option<UnixMillis>,
}
