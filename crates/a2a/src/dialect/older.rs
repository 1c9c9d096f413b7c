//! What requests of A2A 0.3 and before are recognized by. They are refused with a hint to their version, which
//! a mere "no such method" would not give.

/// Whether a JSON-RPC method is one of an older version.
pub(crate) fn is_method(name: &str) -> bool {
    METHODS.contains(&name)
}

/// Whether a JSON-RPC method is one of an older version that is answered by a stream.
pub(crate) fn is_stream(name: &str) -> bool {
    STREAMS.contains(&name)
}

/// Whether a path below an agent is one of HTTP+JSON in version 0.3.
pub(super) fn is_path(path: &str) -> bool {
    path.split('/').next() == Some(PREFIX)
}

/// The segment with which the paths of A2A 0.3 begin.
pub(super) const PREFIX: &str = "v1";

/// The methods of A2A 0.3 and before.
const METHODS: [&str; 15] = [
    "message/send",
    "message/stream",
    "tasks/get",
    "tasks/list",
    "tasks/cancel",
    "tasks/resubscribe",
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
    "agent/getAuthenticatedExtendedCard",
    "tasks/send",
    "tasks/sendSubscribe",
    "tasks/pushNotification/set",
    "tasks/pushNotification/get",
];

/// Those of them that are answered by a stream.
const STREAMS: [&str; 3] = ["message/stream", "tasks/resubscribe", "tasks/sendSubscribe"];
