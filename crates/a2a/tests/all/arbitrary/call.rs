//! Generators of calls of 1.0.

use a2a::model::{
    AuthenticationInfo, CancelTaskRequest, ContextId, DeleteContextRequest, DeleteTaskRequest,
    EventFilter, GetTaskRequest, GetTaskTimelineRequest, ListPushNotificationConfigsRequest,
    ListTasksRequest, ListWebhooksRequest, PushNotificationConfigRequest, RedeliverRequest, Secret,
    SendMessageConfiguration, SendMessageRequest, SignedHeaders, SubscribeToTaskRequest, TaskId,
    TaskPushNotificationConfig, TaskState, TimelineOrder, UnixMillis, VerifySignatureRequest,
    WebhookTrouble,
};
use a2a::{Call, FollowCall, TaskCall, WebhookCall};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{message, metadata, word};

pub(crate) fn call() -> impl Strategy<Value = Call> {
    let length = || option::of(0..9_i32);
    prop_oneof![
        4 => send().prop_map(|request| Call::Task(TaskCall::SendMessage(Box::new(request)))),
        2 => send().prop_map(|request| {
            Call::Follow(FollowCall::SendStreamingMessage(Box::new(request)))
        }),
        1 => (tenant(), task_id(), length()).prop_map(|(tenant, id, history_length)| {
            Call::Task(TaskCall::GetTask(GetTaskRequest { tenant, id, history_length }))
        }),
        1 => (tenant(), task_id(), metadata()).prop_map(|(tenant, id, metadata)| {
            Call::Task(TaskCall::CancelTask(CancelTaskRequest { tenant, id, metadata }))
        }),
        1 => (tenant(), task_id(), any::<bool>()).prop_map(|(tenant, id, force)| {
            Call::Task(TaskCall::DeleteTask(DeleteTaskRequest { tenant, id, force }))
        }),
        1 => timeline().prop_map(|request| Call::Task(TaskCall::GetTaskTimeline(request))),
        1 => (tenant(), task_id()).prop_map(|(tenant, id)| {
            Call::Follow(FollowCall::SubscribeToTask(SubscribeToTaskRequest { tenant, id }))
        }),
        1 => list().prop_map(Call::List),
        1 => webhooks().prop_map(Call::Webhooks),
        1 => context_deletion().prop_map(Call::Context),
        1 => Just(Call::Card),
        3 => webhook_call().prop_map(|call| Call::Task(TaskCall::Webhook(call))),
    ]
}

fn send() -> impl Strategy<Value = SendMessageRequest> {
    let webhook =
        option::of(webhook().prop_map(|webhook| TaskPushNotificationConfig {
            tenant: None,
            ..webhook.of_task(None)
        }));
    let configuration = (vec(word(), 0..3), option::of(0..9_i32), any::<bool>(), webhook).prop_map(
        |(accepted_output_modes, history_length, return_immediately, webhook)| {
            SendMessageConfiguration {
                accepted_output_modes,
                history_length,
                return_immediately,
                task_push_notification_config: webhook,
            }
        },
    );
    (tenant(), message(), configuration, metadata()).prop_map(
        |(tenant, message, configuration, metadata)| SendMessageRequest {
            tenant,
            message,
            configuration,
            metadata,
        },
    )
}

fn webhooks() -> impl Strategy<Value = ListWebhooksRequest> {
    let troubles =
        [WebhookTrouble::Failing, WebhookTrouble::Suspended, WebhookTrouble::DeadLetters];
    let state = option::of(proptest::sample::select(Vec::from(troubles)));
    (tenant(), state, 1..=100_u8, option::of(word())).prop_map(
        |(tenant, state, page_size, page_token)| ListWebhooksRequest {
            tenant,
            state,
            page_size,
            page_token,
        },
    )
}

fn context_deletion() -> impl Strategy<Value = DeleteContextRequest> {
    let context = word().prop_map(|id| ContextId::new(id).unwrap());
    (tenant(), context, any::<bool>(), 1..=100_u8, option::of(word())).prop_map(
        |(tenant, context_id, force, page_size, page_token)| DeleteContextRequest {
            tenant,
            context_id,
            force,
            page_size,
            page_token,
        },
    )
}

fn list() -> impl Strategy<Value = ListTasksRequest> {
    let filters = (
        option::of(word().prop_map(|id| ContextId::new(id).unwrap())),
        option::of(proptest::sample::select(&TaskState::ALL[..])),
        option::of((0..4_000_000_000_000_i64).prop_map(UnixMillis)),
    );
    let page = (1..=100_u8, option::of(word()), option::of(0..9_i32), any::<bool>());
    let own = (option::of(word()), any::<bool>(), any::<bool>());
    (tenant(), filters, page, own).prop_map(
        |(tenant, (context_id, status, after), page, (text, waiting, include_summary))| {
            let (page_size, page_token, history_length, all) = page;
            ListTasksRequest {
                tenant,
                context_id,
                status,
                page_size,
                page_token,
                history_length,
                status_timestamp_after: after,
                include_artifacts: all,
                text,
                waiting,
                include_summary,
            }
        },
    )
}

fn timeline() -> impl Strategy<Value = GetTaskTimelineRequest> {
    let order = option::of(proptest::sample::select(vec![TimelineOrder::Asc, TimelineOrder::Desc]));
    (tenant(), task_id(), 1..=100_u8, option::of(word()), order).prop_map(
        |(tenant, id, page_size, page_token, order)| GetTaskTimelineRequest {
            tenant,
            id,
            page_size,
            page_token,
            order,
        },
    )
}

fn webhook_call() -> impl Strategy<Value = WebhookCall> {
    let named = || {
        (tenant(), task_id(), webhook_id())
            .prop_map(|(tenant, task_id, id)| PushNotificationConfigRequest { tenant, task_id, id })
    };
    prop_oneof![
        webhook().prop_map(|webhook| {
            WebhookCall::CreateTaskPushNotificationConfig(Box::new(webhook))
        }),
        named().prop_map(WebhookCall::GetTaskPushNotificationConfig),
        (tenant(), task_id()).prop_map(|(tenant, task_id)| {
            let request = ListPushNotificationConfigsRequest { tenant, task_id };
            WebhookCall::ListTaskPushNotificationConfigs(request)
        }),
        named().prop_map(WebhookCall::DeleteTaskPushNotificationConfig),
        named().prop_map(WebhookCall::ListTaskPushNotificationDeliveries),
        named().prop_map(WebhookCall::TestTaskPushNotificationConfig),
        (named(), signed_headers(), word()).prop_map(|(webhook, headers, body)| {
            let PushNotificationConfigRequest { tenant, task_id, id } = webhook;
            let request = VerifySignatureRequest { tenant, task_id, id, headers, body };
            WebhookCall::VerifyTaskPushNotificationSignature(Box::new(request))
        }),
        (named(), 1..=u64::MAX).prop_map(|(webhook, from_generation)| {
            let PushNotificationConfigRequest { tenant, task_id, id } = webhook;
            let request = RedeliverRequest { tenant, task_id, id, from_generation };
            WebhookCall::RedeliverTaskPushNotifications(request)
        }),
    ]
}

fn signed_headers() -> impl Strategy<Value = SignedHeaders> {
    let header = || option::of("[a-z0-9.,+/=]{1,8}");
    (header(), header(), header()).prop_map(|(id, timestamp, signature)| SignedHeaders {
        id,
        timestamp,
        signature,
    })
}

pub(crate) fn webhook() -> impl Strategy<Value = TaskPushNotificationConfig> {
    let authentication =
        ("[A-Za-z]{1,5}", option::of("[!-~]{1,5}")).prop_map(|(scheme, credentials)| {
            AuthenticationInfo { scheme, credentials: credentials.map(Secret::new) }
        });
    let events = vec![EventFilter::All, EventFilter::Status, EventFilter::Artifacts];
    let secret = Secret::new(format!("whsec_{}", "QUJD".repeat(10)));
    (
        (tenant(), prop_oneof![Just(String::new()), webhook_id()], task_id()),
        ("https://[a-z?=&]{1,5}", option::of("[!-~]{1,5}"), option::of(authentication)),
        (proptest::sample::select(events), option::of(Just(secret))),
    )
        .prop_map(
            |((tenant, id, task_id), (url, token, authentication), (events, signing_secret))| {
                TaskPushNotificationConfig {
                    tenant,
                    id,
                    task_id,
                    url,
                    token: token.map(Secret::new),
                    authentication,
                    events,
                    signing_secret,
                }
            },
        )
}

fn tenant() -> impl Strategy<Value = Option<String>> {
    option::of("[a-zé/ ]{1,4}")
}

/// Ids with characters that have a meaning in paths.
fn task_id() -> impl Strategy<Value = TaskId> {
    "[a-zé/:?#% .]{1,6}".prop_map(|id| TaskId::new(id).unwrap())
}

fn webhook_id() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9._~:-]{1,6}"
}
