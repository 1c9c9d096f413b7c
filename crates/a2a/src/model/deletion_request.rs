//! The parameters of DeleteTask and DeleteContext (extension [`DELETION_EXTENSION`]).

use serde::Serialize;

use super::decode::{Decode, Fields};
use super::request::page_size;
use super::{ContextId, TaskId};

/// The URI of the extension with which a caller deletes tasks of its own, one by one or those of a context. Every agent declares
/// it: A2A 1.0 has no operation that deletes a task.
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

/// The parameters of DeleteContext.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteContextRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The context whose tasks are deleted.
    pub context_id: ContextId,
    /// Whether tasks that have not ended are canceled first; otherwise they stay. False if missing on the wire.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// The largest number of tasks that the call deletes, 1 to 100; 50 if missing on the wire.
    pub page_size: u8,
    /// The `nextPageToken` of the answer before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
}

/// The result of DeleteContext.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextDeletion {
    /// The number of tasks that the call has deleted.
    pub deleted: u32,
    /// The number of tasks that it has left, because they have not ended.
    pub unfinished: u32,
    /// The token with which the next call goes on; empty if the context has no more tasks.
    pub next_page_token: String,
}

impl Decode for DeleteContextRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let context_id = fields.required_id("contextId");
        let force = fields.boolean("force").unwrap_or_default();
        let page_size = page_size(fields);
        let page_token = fields.string("pageToken");
        Some(Self { tenant, context_id: context_id?, force, page_size, page_token })
    }
}

impl Decode for ContextDeletion {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            deleted: fields.number("deleted").unwrap_or_default(),
            unfinished: fields.number("unfinished").unwrap_or_default(),
            next_page_token: fields.string("nextPageToken").unwrap_or_default(),
        })
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
    fn a_context_is_deleted_in_pages() {
        let request: DeleteContextRequest = decode(json!({"contextId": "c"})).unwrap();
        assert_eq!((request.force, request.page_size, request.page_token), (false, 50, None));
        for (given, field) in [
            (json!({}), "contextId"),
            (json!({"contextId": ""}), "contextId"),
            (json!({"contextId": "c", "pageSize": 101}), "pageSize"),
            (json!({"contextId": "c", "pageToken": 1}), "pageToken"),
            (json!({"contextId": "c", "force": "no"}), "force"),
        ] {
            let refused = decode::<DeleteContextRequest>(given.clone()).unwrap_err();
            assert_eq!(refused[0].field, field, "{given}");
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
