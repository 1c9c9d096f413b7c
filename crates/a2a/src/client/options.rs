//! The options of one call.

use crate::model::UnixMillis;

/// What a call sends or obeys in addition to its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// The header `Idempotency-Key`. Where it is unset, a send carries its message id, so that a server which knows the header
    /// begins one task however often the send is repeated.
    pub idempotency_key: Option<String>,
    /// The header `Last-Event-ID` of a stream that goes on.
    pub last_event_id: Option<String>,
    /// When the call has to be over, retries included. It then fails with [`ClientError::Timeout`](super::ClientError::Timeout). Unless it is set, a call has
    /// [`timeout_ms`](super::Settings::timeout_ms), and a stream until it is open.
    pub deadline: Option<UnixMillis>,
}
