//! The parameters of each operation (spec §3.1, §3.2).

use serde::Serialize;

use super::decode::{Decode, Fields};
use super::task::STATES;
use super::{
    ContextId, Message, Metadata, TaskId, TaskPushNotificationConfig, TaskState, UnixMillis,
    to_json,
};
use crate::decode_via_fields;

/// The parameters of SendMessage and SendStreamingMessage (spec §3.2.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The message.
    pub message: Message,
    /// The options for the answer.
    pub configuration: SendMessageConfiguration,
    /// Free-form data; stored as the metadata of a task that the message begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl SendMessageRequest {
    /// Identifies the content of the request: 16 hex digits of a hash over the message and the
    /// metadata. The configuration is not included.
    pub fn fingerprint(&self) -> String {
        // The model has no map with keys other than strings, so encoding cannot fail.
        let asked = to_json(&(&self.message, &self.metadata)).unwrap_or_default();
        format!("{:016x}", fnv1a(asked.as_bytes()))
    }
}

/// The FNV-1a hash, 64 bits. Hashes are stored and compared after later deploys, so the function must
/// not depend on the version of the compiler.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// The options for the answer to a send (spec §3.2.2).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageConfiguration {
    /// The media types that the client accepts; an empty list means any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// The number of history messages in the returned task, 0 or more; `None` means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// Whether to answer as soon as the task exists, and not when it has ended or is interrupted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub return_immediately: bool,
    /// A webhook that is registered for the task before the agent starts to work on the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_push_notification_config: Option<TaskPushNotificationConfig<Option<TaskId>>>,
}

/// The parameters of GetTask (spec §3.1.3).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
    /// The number of history messages in the answer, 0 or more; `None` means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
}

/// The parameters of ListTasks (spec §3.1.4). A task must match all filters that are set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTasksRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Only tasks of this conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// Only tasks in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskState>,
    /// The largest number of tasks on a page, 1 to [`MAX_PAGE_SIZE`](Self::MAX_PAGE_SIZE); if missing
    /// on the wire, [`DEFAULT_PAGE_SIZE`](Self::DEFAULT_PAGE_SIZE). An explicit 0 is refused.
    pub page_size: u8,
    /// The `nextPageToken` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// The number of history messages in each task, 0 or more; `None` means all that the index stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// Only tasks that entered their present status at or after this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_timestamp_after: Option<UnixMillis>,
    /// Whether the tasks contain their artifacts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_artifacts: bool,
    /// Only tasks one of whose texts contains this text, in any case; at most
    /// [`MAX_TEXT_CHARS`](Self::MAX_TEXT_CHARS) characters. This and the following parameters are
    /// those of a2a-edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Only tasks that wait for their client: for input or for credentials.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waiting: bool,
    /// Whether the metadata of the tasks contains what was asked first, and how long finished ones took.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_summary: bool,
}

impl ListTasksRequest {
    /// The page size of a request without a page size.
    pub const DEFAULT_PAGE_SIZE: u8 = 50;
    /// The largest page size of a request.
    pub const MAX_PAGE_SIZE: u8 = 100;
    /// The largest number of characters of a text that is searched for.
    pub const MAX_TEXT_CHARS: usize = 100;
}

/// The parameters of CancelTask (spec §3.1.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelTaskRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
    /// Free-form data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// The parameters of SubscribeToTask (spec §3.1.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeToTaskRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: TaskId,
}

impl Decode for SubscribeToTaskRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_id("id");
        Some(Self { tenant, id: id? })
    }
}

impl Decode for SendMessageRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let message = fields.required_object("message");
        let configuration = fields.object("configuration").unwrap_or_default();
        let metadata = fields.metadata("metadata");
        Some(Self { tenant, message: message?, configuration, metadata })
    }
}

impl Decode for SendMessageConfiguration {
    fn decode(fields: &mut Fields) -> Option<Self> {
        // The second name is from older versions of the specification.
        let push = fields.object("taskPushNotificationConfig");
        let push = push.or_else(|| fields.object("pushNotificationConfig"));
        Some(Self {
            accepted_output_modes: fields.strings("acceptedOutputModes"),
            history_length: fields.count("historyLength"),
            return_immediately: fields.boolean("returnImmediately").unwrap_or_default(),
            task_push_notification_config: push,
        })
    }
}

impl Decode for GetTaskRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_id("id");
        let history_length = fields.count("historyLength");
        Some(Self { tenant, id: id?, history_length })
    }
}

impl Decode for ListTasksRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            tenant: fields.string("tenant"),
            context_id: fields.id("contextId"),
            status: fields.enumeration("status", &STATES),
            page_size: page_size(fields),
            page_token: fields.string("pageToken"),
            history_length: fields.count("historyLength"),
            status_timestamp_after: fields.timestamp("statusTimestampAfter"),
            include_artifacts: fields.boolean("includeArtifacts").unwrap_or_default(),
            text: searched_text(fields),
            waiting: fields.boolean("waiting").unwrap_or_default(),
            include_summary: fields.boolean("includeSummary").unwrap_or_default(),
        })
    }
}

impl Decode for CancelTaskRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let id = fields.required_id("id");
        let metadata = fields.metadata("metadata");
        Some(Self { tenant, id: id?, metadata })
    }
}

/// The text of a search. A text that is too long is refused.
fn searched_text(fields: &mut Fields) -> Option<String> {
    let text = fields.string("text")?;
    let largest = ListTasksRequest::MAX_TEXT_CHARS;
    if text.chars().count() > largest {
        fields.refuse("text", format!("must have at most {largest} characters"));
    }
    Some(text)
}

/// The page size. If the value is refused, the violation is added to `fields`, and the default is
/// returned.
pub(super) fn page_size(fields: &mut Fields) -> u8 {
    let Some(given) = fields.integer("pageSize") else {
        return ListTasksRequest::DEFAULT_PAGE_SIZE;
    };
    let largest = ListTasksRequest::MAX_PAGE_SIZE;
    match u8::try_from(given) {
        Ok(size @ 1..=ListTasksRequest::MAX_PAGE_SIZE) => size,
        Ok(_) | Err(_) => {
            fields.refuse("pageSize", format!("must be 1 to {largest}, got {given}"));
            ListTasksRequest::DEFAULT_PAGE_SIZE
        }
    }
}

decode_via_fields!(
    SendMessageRequest,
    SendMessageConfiguration,
    GetTaskRequest,
    ListTasksRequest,
    CancelTaskRequest,
    SubscribeToTaskRequest
);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::decode::decode;
    use super::*;

    #[test]
    fn a_listing_needs_no_parameters() {
        let request: ListTasksRequest = decode(json!({})).unwrap();
        assert_eq!(request.page_size, 50);
        assert_eq!((request.status, request.page_token), (None, None));
        assert!(!request.include_artifacts);
    }

    #[test]
    fn a_listing_is_read_in_both_spellings() {
        let camel = json!({"contextId": "c", "status": "TASK_STATE_FAILED", "pageSize": 7,
            "pageToken": "t", "historyLength": 2, "includeArtifacts": true, "includeSummary": true,
            "text": "x", "waiting": true, "statusTimestampAfter": "2026-01-05T09:00:01.250Z"});
        let snake = json!({"context_id": "c", "status": 4, "page_size": "7",
            "page_token": "t", "history_length": 2.0, "include_artifacts": true, "include_summary": true,
            "text": "x", "waiting": true,
            "status_timestamp_after": "2026-01-05T10:00:01.25+01:00"});
        let read: ListTasksRequest = decode(camel).unwrap();
        assert_eq!(read.status_timestamp_after, Some(UnixMillis(1_767_603_601_250)));
        assert_eq!(decode(snake), Ok(read));
    }

    #[test]
    fn no_state_an_empty_context_and_an_empty_token_filter_nothing() {
        for status in [json!(0), json!("TASK_STATE_UNSPECIFIED"), Value::Null] {
            let given = json!({"status": status, "contextId": "", "pageToken": "", "text": ""});
            assert_eq!(decode::<ListTasksRequest>(given), decode(json!({})));
        }
    }

    #[test]
    fn limits_of_a_listing_are_named() {
        for (field, value) in [
            ("pageSize", json!(0)),
            ("pageSize", json!(-1)),
            ("pageSize", json!(101)),
            ("pageSize", json!(300)),
            ("pageSize", json!(1.5)),
            ("pageSize", json!("many")),
            ("historyLength", json!(-1)),
            ("status", json!("DONE")),
            ("status", json!(99)),
            ("statusTimestampAfter", json!("yesterday")),
            ("includeArtifacts", json!("yes")),
            ("pageToken", json!(5)),
            ("contextId", json!({})),
            ("text", json!(5)),
            ("text", json!("é".repeat(101))),
            ("waiting", json!("perhaps")),
            ("includeSummary", json!(1)),
        ] {
            let refused = decode::<ListTasksRequest>(json!({field: value})).unwrap_err();
            assert_eq!(refused[0].field, field, "{value}");
        }
        for size in [json!(1), json!(100), json!("100"), json!(2.0)] {
            assert!(decode::<ListTasksRequest>(json!({"pageSize": size})).is_ok(), "{size}");
        }
        assert!(decode::<ListTasksRequest>(json!({"text": "é".repeat(100)})).is_ok());
    }
}
