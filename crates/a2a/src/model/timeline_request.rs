//! The parameters of GetTaskTimeline (extension [`TIMELINE_EXTENSION`]).

use serde::Serialize;

use super::TaskId;
use super::decode::{Decode, Fields};
use super::request::page_size;

/// The URI of the extension that returns the events of a task as a timeline. Every agent declares
/// it.
pub const TIMELINE_EXTENSION: &str = "urn:a2a-edge:timeline:v1";

/// The parameters of GetTaskTimeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskTimelineRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
    /// The largest number of entries on a page, 1 to 100; 50 if missing on the wire.
    pub page_size: u8,
    /// The `nextPageToken` or the `resumeToken` of an earlier answer, at which the page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// The order of the entries. `None` means the order of the token; without a token, the oldest
    /// entry is first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<TimelineOrder>,
}

/// The order of the entries in a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TimelineOrder {
    /// The oldest entry is first.
    #[default]
    Asc,
    /// The newest entry is first.
    Desc,
}

impl Decode for GetTaskTimelineRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_id("id");
        let page_size = page_size(fields);
        let page_token = fields.string("pageToken");
        let order = order(fields);
        Some(Self { tenant, id: id?, page_size, page_token, order })
    }
}

fn order(fields: &mut Fields) -> Option<TimelineOrder> {
    match fields.string("order")?.as_str() {
        "asc" => Some(TimelineOrder::Asc),
        "desc" => Some(TimelineOrder::Desc),
        other => {
            fields.refuse("order", format!("must be asc or desc, got {other}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::decode::decode;
    use super::*;

    #[test]
    fn a_timeline_needs_a_task_and_nothing_else() {
        let request: GetTaskTimelineRequest = decode(json!({"id": "t"})).unwrap();
        assert_eq!((request.page_size, request.page_token, request.order), (50, None, None));
        let given = json!({"id": "t", "page_size": "7", "page_token": "x", "order": "desc"});
        let request: GetTaskTimelineRequest = decode(given).unwrap();
        assert_eq!((request.page_size, request.page_token.as_deref()), (7, Some("x")));
        assert_eq!(request.order, Some(TimelineOrder::Desc));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (given, field) in [
            (json!({}), "id"),
            (json!({"id": ""}), "id"),
            (json!({"id": "t", "pageSize": 0}), "pageSize"),
            (json!({"id": "t", "pageSize": "101"}), "pageSize"),
            (json!({"id": "t", "order": "newest"}), "order"),
            (json!({"id": "t", "order": 1}), "order"),
            (json!({"id": "t", "pageToken": {}}), "pageToken"),
        ] {
            let refused = decode::<GetTaskTimelineRequest>(given.clone()).unwrap_err();
            assert_eq!(refused[0].field, field, "{given}");
        }
        let read = decode::<GetTaskTimelineRequest>(json!({"id": "t", "order": Value::Null}));
        assert!(read.is_ok());
    }
}
