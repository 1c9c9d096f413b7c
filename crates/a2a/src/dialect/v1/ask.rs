//! Encodes calls in the form of clients of A2A 1.0.

use crate::model::{GetTaskTimelineRequest, Metadata, TimelineOrder, encode};
use crate::wire::{Binding, percent};
use crate::{Call, FollowCall, TaskCall, WebhookCall};

/// See [`Dialect::asked`](crate::dialect::Dialect::asked).
pub(in crate::dialect) fn asked(binding: Binding, call: &Call) -> serde_json::Result<String> {
    match call {
        Call::Task(TaskCall::SendMessage(request))
        | Call::Follow(FollowCall::SendStreamingMessage(request)) => encode(request),
        // The path contains the other parameters.
        Call::Task(TaskCall::CancelTask(request)) if binding == Binding::Rest => {
            only_metadata(request.metadata.as_ref())
        }
        Call::Task(TaskCall::CancelTask(request)) => encode(request),
        Call::Task(TaskCall::GetTask(request)) => encode(request),
        Call::Task(TaskCall::GetTaskTimeline(request)) => encode(request),
        Call::Task(TaskCall::DeleteTask(request)) => encode(request),
        Call::Task(TaskCall::Webhook(call)) => match call {
            WebhookCall::CreateTaskPushNotificationConfig(webhook) => encode(webhook),
            WebhookCall::GetTaskPushNotificationConfig(request)
            | WebhookCall::DeleteTaskPushNotificationConfig(request)
            | WebhookCall::ListTaskPushNotificationDeliveries(request)
            | WebhookCall::TestTaskPushNotificationConfig(request) => encode(request),
            WebhookCall::ListTaskPushNotificationConfigs(request) => encode(request),
            WebhookCall::RedeliverTaskPushNotifications(request) => encode(request),
            WebhookCall::VerifyTaskPushNotificationSignature(request) => encode(request),
        },
        Call::Follow(FollowCall::SubscribeToTask(request)) => encode(request),
        Call::List(request) => encode(request),
        Call::Webhooks(request) => encode(request),
        Call::Context(request) => encode(request),
        Call::Card => Ok("{}".to_owned()),
    }
}

/// An object that contains only this metadata, if there is some.
pub(in crate::dialect) fn only_metadata(metadata: Option<&Metadata>) -> serde_json::Result<String> {
    match metadata {
        Some(metadata) => Ok(format!(r#"{{"metadata":{}}}"#, encode(metadata)?)),
        None => Ok("{}".to_owned()),
    }
}

/// The query of a call over HTTP+JSON, with its question mark; empty if the call has no query
/// parameters.
pub(in crate::dialect) fn query(call: &Call) -> String {
    let history_length = match call {
        Call::Task(TaskCall::GetTask(request)) => request.history_length,
        Call::List(request) => request.history_length,
        Call::Task(_) | Call::Follow(_) | Call::Webhooks(_) | Call::Context(_) | Call::Card => None,
    };
    let mut pairs = Vec::new();
    if let Call::List(request) = call {
        let context_id = request.context_id.as_ref().map(|id| id.as_str().to_owned());
        let after = request.status_timestamp_after.map(|after| after.to_string());
        pairs.push(("pageSize", Some(request.page_size.to_string())));
        pairs.push(("contextId", context_id));
        pairs.push(("status", request.status.map(|state| state.wire_name().to_owned())));
        pairs.push(("pageToken", request.page_token.clone()));
        pairs.push(("statusTimestampAfter", after));
        pairs.push(("text", request.text.clone()));
        pairs.push(("waiting", request.waiting.then(|| "true".to_owned())));
        pairs.push(("includeSummary", request.include_summary.then(|| "true".to_owned())));
        pairs.push(("includeArtifacts", request.include_artifacts.then(|| "true".to_owned())));
    }
    if let Call::Task(TaskCall::GetTaskTimeline(request)) = call {
        let GetTaskTimelineRequest { page_size, page_token, order, .. } = request;
        let order = order.map(|order| match order {
            TimelineOrder::Asc => "asc".to_owned(),
            TimelineOrder::Desc => "desc".to_owned(),
        });
        pairs.push(("pageSize", Some(page_size.to_string())));
        pairs.push(("pageToken", page_token.clone()));
        pairs.push(("order", order));
    }
    if let Call::Task(TaskCall::DeleteTask(request)) = call {
        pairs.push(("force", request.force.then(|| "true".to_owned())));
    }
    if let Call::Context(request) = call {
        pairs.push(("force", request.force.then(|| "true".to_owned())));
        pairs.push(("pageSize", Some(request.page_size.to_string())));
        pairs.push(("pageToken", request.page_token.clone()));
    }
    if let Call::Webhooks(request) = call {
        pairs.push(("pageSize", Some(request.page_size.to_string())));
        pairs.push(("state", request.state.map(|state| state.wire_name().to_owned())));
        pairs.push(("pageToken", request.page_token.clone()));
    }
    pairs.push(("historyLength", history_length.map(|length| length.to_string())));
    let said = pairs.into_iter().filter_map(|(name, value)| {
        value.map(|value| format!("{name}={}", percent::encode(&value)))
    });
    let query = said.collect::<Vec<_>>().join("&");
    if query.is_empty() { query } else { format!("?{query}") }
}
