//! The parameters of GetTaskTimeline (extension [`TIMELINE_EXTENSION`]).

use serde::Serialize;

use super::TaskId;
use super::decode::{Decode, Fields};
use super::request::page_size;

/// The extension that tells what happened in a task. All agents have it.
pub const TIMELINE_EXTENSION: &str = "urn:a2a-edge:timeline:v1";

/// The parameters of GetTaskTimeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskTimelineRequest {
    /// The agent, when several answer at one URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
    /// How many entries a page holds at most, 1 to 100; on the wire 50 where unset.
    pub page_size: u8,
    /// Where the page begins: the `nextPageToken` or the `resumeToken` of a former answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// What comes first. Unset, that of the token, or the oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<TimelineOrder>,
}

/// What comes first in a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TimelineOrder {
    /// The oldest entry.
    #[default]
    Asc,
    /// The newest entry.
    Desc,
}

impl Decode for GetTaskTimelineRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_string("id");
        let page_size = page_size(fields);
        let page_token = fields.string("pageToken");
        let order = order(fields);
        Some(Self { tenant, id: TaskId::new(id?), page_size, page_token, order })
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
