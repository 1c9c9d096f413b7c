//! The parameters of calls about the webhooks of a task (spec §3.1.8 to §3.1.10, and the extension
//! [`WEBHOOKS_EXTENSION`](super::WEBHOOKS_EXTENSION)), and of the list of failing webhooks.

use serde::Serialize;
use serde_json::Value;

use super::TaskId;
use super::decode::{Decode, Fields};
use super::request::page_size;

/// The parameters of GetTaskPushNotificationConfig and DeleteTaskPushNotificationConfig (spec §3.1.8, §3.1.10), and of
/// the list of deliveries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushNotificationConfigRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: TaskId,
    /// The id of the webhook. In GetTaskPushNotificationConfig of older dialects it may be empty, which means the webhook
    /// that was registered first.
    pub id: String,
}

/// The parameters of ListTaskPushNotificationConfigs (spec §3.1.9). A task has only a few webhooks, so every answer is
/// complete, and the page size and token of a request are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListPushNotificationConfigsRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: TaskId,
}

/// The parameters of RedeliverTaskPushNotifications (extension [`WEBHOOKS_EXTENSION`](super::WEBHOOKS_EXTENSION)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RedeliverRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: TaskId,
    /// The webhook.
    pub id: String,
    /// The generation of the first event to send again, from 1.
    pub from_generation: u64,
}

/// The parameters of VerifyTaskPushNotificationSignature (extension [`WEBHOOKS_EXTENSION`](super::WEBHOOKS_EXTENSION)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifySignatureRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: TaskId,
    /// The webhook.
    pub id: String,
    /// The headers of the request whose signature is checked.
    pub headers: SignedHeaders,
    /// Its body, as it came in.
    pub body: String,
}

/// The headers of a notification that have to do with its signature. Other headers are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignedHeaders {
    /// `webhook-id`.
    #[serde(rename = "webhook-id", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `webhook-timestamp`.
    #[serde(rename = "webhook-timestamp", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// `webhook-signature`.
    #[serde(rename = "webhook-signature", skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The parameters of ListWebhooks (extension [`WEBHOOKS_EXTENSION`](super::WEBHOOKS_EXTENSION)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListWebhooksRequest {
    /// The agent, if several agents have the same URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Only webhooks with this problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<WebhookTrouble>,
    /// The largest number of webhooks on a page; see [`ListTasksRequest`](super::ListTasksRequest).
    pub page_size: u8,
    /// The `nextPageToken` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
}

/// The problems of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WebhookTrouble {
    /// The newest attempt has failed.
    Failing,
    /// Nothing is sent to the webhook until its owner requests a redelivery.
    Suspended,
    /// Some events were given up, and no redelivery of them was requested.
    DeadLetters,
}

impl WebhookTrouble {
    /// The name on the wire.
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Suspended => "suspended",
            Self::DeadLetters => "deadLetters",
        }
    }
}

/// The problems by name. The numbers are not used on the wire.
const TROUBLES: [(&str, i64, Option<WebhookTrouble>); 3] = [
    ("failing", 1, Some(WebhookTrouble::Failing)),
    ("suspended", 2, Some(WebhookTrouble::Suspended)),
    ("deadLetters", 3, Some(WebhookTrouble::DeadLetters)),
];

impl PushNotificationConfigRequest {
    /// As [`Decode`], but the id may be empty, which means the webhook that was registered first.
    pub(crate) fn decode_any(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let task_id = fields.required_id("taskId");
        let id = fields.required_text("id");
        Some(Self { tenant, task_id: task_id?, id: id? })
    }
}

impl Decode for PushNotificationConfigRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let task_id = fields.required_id("taskId");
        let id = fields.required_string("id");
        Some(Self { tenant, task_id: task_id?, id: id? })
    }
}

impl Decode for VerifySignatureRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let webhook = PushNotificationConfigRequest::decode(fields);
        let headers = fields.required_object("headers");
        let body = fields.required_text("body");
        let PushNotificationConfigRequest { tenant, task_id, id } = webhook?;
        Some(Self { tenant, task_id, id, headers: headers?, body: body? })
    }
}

impl Decode for SignedHeaders {
    fn decode(fields: &mut Fields) -> Option<Self> {
        fields.rest("texts by the names of headers, each of at most 4096 bytes", |headers| {
            let header = |name| {
                let mut all = headers.as_object()?.iter();
                match all.find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                    Some((_, Value::String(text))) if text.len() <= MAX_HEADER_BYTES => {
                        let text = text.trim();
                        Some((!text.is_empty()).then(|| text.to_owned()))
                    }
                    Some(_) => None,
                    None => Some(None),
                }
            };
            let [id, timestamp] = ["webhook-id", "webhook-timestamp"].map(header);
            let signature = header("webhook-signature");
            Some(Self { id: id?, timestamp: timestamp?, signature: signature? })
        })
    }
}

/// The largest length of one of the [`SignedHeaders`].
const MAX_HEADER_BYTES: usize = 4_096;

impl Decode for ListPushNotificationConfigsRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tenant = fields.string("tenant");
        let task_id = fields.required_id("taskId");
        Some(Self { tenant, task_id: task_id? })
    }
}

impl Decode for ListWebhooksRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            tenant: fields.string("tenant"),
            state: fields.enumeration("state", &TROUBLES),
            page_size: page_size(fields),
            page_token: fields.string("pageToken"),
        })
    }
}

impl Decode for RedeliverRequest {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let webhook = PushNotificationConfigRequest::decode(fields);
        let from_generation = match fields.member("fromGeneration") {
            None => None,
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_u64().or_else(|| value.as_f64().and_then(whole)),
        };
        let from_generation = from_generation.filter(|generation| *generation > 0);
        if from_generation.is_none() {
            fields.refuse("fromGeneration", "is required: the generation of an event, from 1");
        }
        let PushNotificationConfigRequest { tenant, task_id, id } = webhook?;
        Some(Self { tenant, task_id, id, from_generation: from_generation? })
    }
}

/// A number without fraction, for example `3.0`, that a double represents exactly.
fn whole(number: f64) -> Option<u64> {
    ((0.0..=9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0)
        .then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::decode::decode;
    use super::*;

    #[test]
    fn a_list_of_webhooks_is_filtered_by_what_is_wrong_and_paged() {
        let all = decode::<ListWebhooksRequest>(json!({})).unwrap();
        assert_eq!((all.state, all.page_size, &all.page_token), (None, 50, &None));
        for (_, _, trouble) in TROUBLES {
            let name = serde_json::to_value(trouble).unwrap();
            assert_eq!(name, json!(trouble.unwrap().wire_name()));
            let read = decode::<ListWebhooksRequest>(json!({"state": name, "pageSize": "7"}));
            let read = read.unwrap();
            assert_eq!((read.state, read.page_size), (trouble, 7));
        }
        for (field, value) in
            [("state", json!("active")), ("state", json!(9)), ("pageSize", json!(0))]
        {
            let refused = decode::<ListWebhooksRequest>(json!({field: value})).unwrap_err();
            assert_eq!(refused[0].field, field);
        }
    }

    #[test]
    fn a_redelivery_says_from_where() {
        let read = |from: Value| {
            decode::<RedeliverRequest>(json!({"taskId": "t", "id": "c", "fromGeneration": from}))
        };
        for from in [json!(3), json!("3"), json!(3.0)] {
            assert_eq!(read(from).unwrap().from_generation, 3);
        }
        // A generation that no task reaches, but that the task's object can decode.
        for from in [json!(u64::MAX), json!(u64::MAX.to_string())] {
            let request = read(from).unwrap();
            let sent = serde_json::to_string(&request).unwrap();
            let received = super::super::decode::read_json::<RedeliverRequest>(&sent).unwrap();
            assert_eq!((received.from_generation, &received), (u64::MAX, &request));
        }
        for from in [
            json!(null),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(1e300),
            json!(-0.0),
            json!("x"),
            json!("18446744073709551616"),
            json!([]),
        ] {
            let violations = read(from.clone()).unwrap_err();
            let fields: Vec<_> = violations.iter().map(|found| found.field.as_str()).collect();
            assert_eq!(fields, ["fromGeneration"], "{from}");
        }
    }
}
