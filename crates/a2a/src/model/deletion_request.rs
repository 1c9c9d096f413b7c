//! The parameters of DeleteTask (extension [`DELETION_EXTENSION`]).

use serde::Serialize;

use super::TaskId;
use super::decode::{Decode, Fields};

/// The URI of the extension with which a caller deletes tasks of its own. Every agent declares it: A2A 1.0 has no operation
/// that deletes a task.
pub const DELETION_EXTENSION: &str = "urn:a2a-edge:deletion:v1";

/// The parameters of DeleteTask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteTaskRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
    /// Whether a task that has not ended is canceled first; otherwise the server refuses to delete it. False if missing on
    /// the wire.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

impl Decode for DeleteTaskRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_id("id");
        let force = fields.boolean("force").unwrap_or_default();
        Some(Self { tenant, id: id?, force })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::decode::decode;
    use super::*;

    #[test]
    fn a_deletion_needs_a_task_and_does_not_cancel_unless_told() {
        for (given, force) in [
            (json!({"id": "t"}), false),
            (json!({"id": "t", "force": null}), false),
            (json!({"id": "t", "force": true}), true),
        ] {
            let request: DeleteTaskRequest = decode(given.clone()).unwrap();
            assert_eq!((request.id.as_str(), request.force), ("t", force), "{given}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (given, field) in [
            (json!({}), "id"),
            (json!({"id": ""}), "id"),
            (json!({"id": "t", "force": "yes"}), "force"),
            (json!({"id": "t", "force": "true"}), "force"),
            (json!({"id": "t", "force": 1}), "force"),
        ] {
            let refused = decode::<DeleteTaskRequest>(given.clone()).unwrap_err();
            assert_eq!(refused[0].field, field, "{given}");
        }
    }
}
