//! The content of calls, answers and events after the transport in each version; docs/dialects.md lists the losses.

use super::tests::arbitrary::{less_0_1, less_0_3};
use super::*;
use crate::call::FollowCall;
use crate::dialect::{Dialect, ReadCall};
use crate::model::{
    Artifact, Message, TaskArtifactUpdateEvent, TaskId, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};

/// The call as the server reads it; `None` if this version does not have the call.
pub(super) fn expected(dialect: Dialect, binding: Binding, mut call: Call) -> Option<ReadCall> {
    let is_of_the_extension = matches!(
        &call,
        Call::Task(
            TaskCall::GetTaskTimeline(_)
                | TaskCall::DeleteTask(_)
                | TaskCall::Webhook(
                    WebhookCall::ListTaskPushNotificationDeliveries(_)
                        | WebhookCall::RedeliverTaskPushNotifications(_)
                        | WebhookCall::TestTaskPushNotificationConfig(_)
                        | WebhookCall::VerifyTaskPushNotificationSignature(_)
                )
        )
    );
    match dialect {
        Dialect::V1 => Some(call.into()),
        Dialect::V0_3 => {
            if is_of_the_extension
                || matches!(call, Call::List(_) | Call::Webhooks(_) | Call::Context(_))
            {
                return None;
            }
            forget_tenant(&mut call);
            if let Some(request) = call.message_mut() {
                less_0_3::message(binding, &mut request.message);
                let configuration = &mut request.configuration;
                configuration.task_push_notification_config.iter_mut().for_each(less_webhook);
                let is_zero = configuration.history_length == Some(0);
                if binding == Binding::Rest && is_zero {
                    configuration.history_length = None;
                }
            }
            if let Call::Task(TaskCall::Webhook(WebhookCall::CreateTaskPushNotificationConfig(
                webhook,
            ))) = &mut call
            {
                less_webhook(webhook);
            }
            Some(call.into())
        }
        Dialect::Legacy => expected_0_1(binding, call),
    }
}

fn expected_0_1(binding: Binding, mut call: Call) -> Option<ReadCall> {
    forget_tenant(&mut call);
    let is_rest = binding == Binding::Rest;
    if let Some(request) = call.message_mut() {
        let message = request.message.clone();
        let task_id = message.task_id.clone();
        let chosen = task_id.clone().unwrap_or_else(|| TaskId::new(&message.message_id).unwrap());
        let context_id = message.context_id.clone();
        request.message = Message { context_id, ..less_0_1::message(message) };
        request.configuration.return_immediately = false;
        if let Some(webhook) = &mut request.configuration.task_push_notification_config {
            (webhook.id, webhook.signing_secret) = (String::new(), None);
        }
        if !is_rest {
            return Some(ReadCall { chosen_id: Some(chosen), ..call.into() });
        }
        request.configuration = Default::default();
        request.metadata = None;
        if task_id.is_some() || call.is_stream() {
            return None;
        }
        let (run_timeout_ms, answer_within_ms) = (Some(300_000), Some(250));
        return Some(ReadCall {
            needs_task: true,
            run_timeout_ms,
            answer_within_ms,
            ..call.into()
        });
    }
    match &mut call {
        Call::Task(TaskCall::GetTask(request)) if is_rest => {
            request.history_length = None;
            Some(call.into())
        }
        _ if is_rest => None,
        Call::Task(TaskCall::Webhook(WebhookCall::CreateTaskPushNotificationConfig(webhook))) => {
            (webhook.id, webhook.signing_secret) = (String::new(), None);
            Some(call.into())
        }
        Call::Task(TaskCall::Webhook(WebhookCall::GetTaskPushNotificationConfig(request))) => {
            request.id = String::new();
            Some(call.into())
        }
        Call::Task(TaskCall::GetTask(_) | TaskCall::CancelTask(_))
        | Call::Follow(FollowCall::SubscribeToTask(_)) => Some(call.into()),
        _ => None,
    }
}

/// A webhook without the members that 0.3 does not have.
fn less_webhook<T>(webhook: &mut TaskPushNotificationConfig<T>) {
    (webhook.signing_secret, webhook.events) = (None, Default::default());
}

fn forget_tenant(call: &mut Call) {
    let tenant = match call {
        Call::List(request) => &mut request.tenant,
        Call::Webhooks(request) => &mut request.tenant,
        Call::Context(request) => &mut request.tenant,
        Call::Card => return,
        Call::Task(TaskCall::SendMessage(request))
        | Call::Follow(FollowCall::SendStreamingMessage(request)) => &mut request.tenant,
        Call::Task(TaskCall::GetTask(request)) => &mut request.tenant,
        Call::Task(TaskCall::CancelTask(request)) => &mut request.tenant,
        Call::Task(TaskCall::GetTaskTimeline(request)) => &mut request.tenant,
        Call::Task(TaskCall::DeleteTask(request)) => &mut request.tenant,
        Call::Follow(FollowCall::SubscribeToTask(request)) => &mut request.tenant,
        Call::Task(TaskCall::Webhook(call)) => match call {
            WebhookCall::CreateTaskPushNotificationConfig(webhook) => &mut webhook.tenant,
            WebhookCall::ListTaskPushNotificationConfigs(request) => &mut request.tenant,
            WebhookCall::GetTaskPushNotificationConfig(request)
            | WebhookCall::DeleteTaskPushNotificationConfig(request)
            | WebhookCall::ListTaskPushNotificationDeliveries(request)
            | WebhookCall::TestTaskPushNotificationConfig(request) => &mut request.tenant,
            WebhookCall::RedeliverTaskPushNotifications(request) => &mut request.tenant,
            WebhookCall::VerifyTaskPushNotificationSignature(request) => &mut request.tenant,
        },
    };
    *tenant = None;
}

/// The events that the client reads for one event of the server.
pub(super) fn told(
    dialect: Dialect,
    binding: Binding,
    event: StreamResponse,
) -> Vec<StreamResponse> {
    match dialect {
        Dialect::V1 => vec![event],
        Dialect::V0_3 => vec![less_0_3::event(binding, event)],
        Dialect::Legacy => told_0_1(event),
    }
}

/// A stream of 0.1 reports a task as a status event, and as artifact events unless the task is the last event. Such a
/// stream contains no `contextId`.
fn told_0_1(event: StreamResponse) -> Vec<StreamResponse> {
    let status_update = |task_id, status, metadata| {
        let (context_id, status) = (None, less_0_1::status(status));
        StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id,
            context_id,
            status,
            metadata,
        })
    };
    match event {
        StreamResponse::Task(task) => {
            let state = task.status.state;
            let mut told = vec![status_update(task.id.clone(), task.status, None)];
            let artifacts = task.artifacts.into_iter().enumerate();
            if !state.is_terminal() && !state.is_interrupted() {
                told.extend(artifacts.map(|(index, artifact)| {
                    StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
                        task_id: task.id.clone(),
                        context_id: None,
                        artifact: less_0_1::artifact(index, artifact),
                        append: false,
                        last_chunk: false,
                        metadata: None,
                    })
                }));
            }
            told
        }
        StreamResponse::Message(message) => {
            let id = message
                .task_id
                .clone()
                .unwrap_or_else(|| TaskId::new(&message.message_id).unwrap());
            let state = TaskState::Completed;
            let (message, timestamp) = (Some(message), None);
            vec![status_update(id, TaskStatus { state, message, timestamp }, None)]
        }
        StreamResponse::StatusUpdate(update) => {
            vec![status_update(update.task_id, update.status, update.metadata)]
        }
        StreamResponse::ArtifactUpdate(mut update) => {
            update.context_id = None;
            update.artifact = less_0_1::artifact(0, update.artifact);
            vec![StreamResponse::ArtifactUpdate(update)]
        }
    }
}

/// The event without the parts of ids that the client has made, because 0.1 has no such ids.
pub(super) fn without_ids(dialect: Dialect) -> impl Fn(StreamResponse) -> StreamResponse {
    move |mut event| {
        if dialect != Dialect::Legacy {
            return event;
        }
        let number = |artifact: &mut Artifact| {
            let number = artifact.artifact_id.strip_prefix("artifact-").expect("a number");
            artifact.artifact_id = number.to_owned();
        };
        match &mut event {
            StreamResponse::Task(task) => {
                task.artifacts.iter_mut().for_each(number);
                task.status.message = task.status.message.take().map(without_id);
                task.history = task.history.drain(..).map(without_id).collect();
            }
            StreamResponse::StatusUpdate(update) => {
                update.status.message = update.status.message.take().map(without_id);
            }
            StreamResponse::ArtifactUpdate(update) => number(&mut update.artifact),
            StreamResponse::Message(_) => {}
        }
        event
    }
}

pub(super) fn without_id(message: Message) -> Message {
    assert!(!message.message_id.is_empty());
    Message { message_id: String::new(), ..message }
}
