//! Lines for audits about the calls of clients that change a task. Denials, tasks that are created and webhooks that
//! come with a message are noted by the session.

use crate::forms::command::Command;
use crate::port::{Act, Audit, Observation, Observer};
use a2a::error::Error;
use a2a::model::TaskId;
use a2a::{Outcome, WebhookCall};

/// Notes that a task was canceled, or why it was not.
pub(super) fn canceled(
    observer: &dyn Observer,
    command: &Command<()>,
    task: &TaskId,
    outcome: &Result<Outcome, Error>,
) {
    observer.observe(&Observation::Audited(line(Act::TaskCanceled, command, task, outcome)));
}

/// A change of the webhooks of a task.
pub(super) struct Change {
    act: Act,
    /// The id of the webhook; empty for a new one, which gets its id then.
    webhook: String,
}

impl Change {
    /// What a call is to change; none where it only reads.
    pub(super) fn of(call: &WebhookCall) -> Option<Self> {
        let (act, webhook) = match call {
            WebhookCall::CreateTaskPushNotificationConfig(config) => {
                (Act::WebhookRegistered, &config.id)
            }
            WebhookCall::DeleteTaskPushNotificationConfig(request) => {
                (Act::WebhookDeleted, &request.id)
            }
            WebhookCall::GetTaskPushNotificationConfig(_)
            | WebhookCall::ListTaskPushNotificationConfigs(_)
            | WebhookCall::ListTaskPushNotificationDeliveries(_)
            | WebhookCall::RedeliverTaskPushNotifications(_) => return None,
        };
        Some(Self { act, webhook: webhook.clone() })
    }

    /// Notes that it was made, or why it was not.
    pub(super) fn note(
        &self,
        observer: &dyn Observer,
        command: &Command<()>,
        task: &TaskId,
        outcome: &Result<Outcome, Error>,
    ) {
        let webhook = match outcome {
            Ok(Outcome::PushConfig(shown)) => shown.config.id.as_str(),
            Ok(_) | Err(_) => self.webhook.as_str(),
        };
        let line = line(self.act, command, task, outcome).with_webhook(webhook);
        observer.observe(&Observation::Audited(line));
    }
}

fn line<'a>(
    act: Act,
    command: &'a Command<()>,
    task: &'a TaskId,
    outcome: &Result<Outcome, Error>,
) -> Audit<'a> {
    let Command { agent, caller, trail, .. } = command;
    let refusal = outcome.as_ref().err().map(|error| error.wire().reason);
    Audit::of(act, agent, &caller.id, trail).on(task).refused(refusal)
}
