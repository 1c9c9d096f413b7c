//! Audit lines for the calls of clients that change a task. The session itself writes the audit lines for denials,
//! created tasks, and webhooks that arrive in a message.

use crate::forms::command::Command;
use crate::port::{Act, Audit, Observation, Observer};
use a2a::error::Error;
use a2a::model::TaskId;
use a2a::{Outcome, WebhookCall};

/// Writes the audit line of a CancelTask call, with its outcome.
pub(super) fn canceled(
    observer: &dyn Observer,
    command: &Command<()>,
    task: &TaskId,
    outcome: &Result<Outcome, Error>,
) {
    observer.observe(&Observation::Audited(line(Act::TaskCanceled, command, task, outcome)));
}

/// Writes the audit line of a DeleteTask call, with its outcome.
pub(super) fn deleted(
    observer: &dyn Observer,
    command: &Command<()>,
    task: &TaskId,
    outcome: &Result<(), Error>,
) {
    observer.observe(&Observation::Audited(line(Act::TaskDeleted, command, task, outcome)));
}

/// A change of the webhooks of a task.
pub(super) struct Change {
    act: Act,
    /// The id of the webhook; empty for a new webhook, whose id is in the outcome of the call.
    webhook: String,
}

impl Change {
    /// The change that a call requests; `None` for a call that only reads.
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
            | WebhookCall::RedeliverTaskPushNotifications(_)
            | WebhookCall::TestTaskPushNotificationConfig(_)
            | WebhookCall::VerifyTaskPushNotificationSignature(_) => return None,
        };
        Some(Self { act, webhook: webhook.clone() })
    }

    /// Writes the audit line of the change, with its outcome.
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

fn line<'a, T>(
    act: Act,
    command: &'a Command<()>,
    task: &'a TaskId,
    outcome: &Result<T, Error>,
) -> Audit<'a> {
    let Command { agent, caller, trail, .. } = command;
    let refusal = outcome.as_ref().err().map(|error| error.wire().reason);
    Audit::of(act, agent, &caller.id, trail).on(task).refused(refusal)
}
