//! The rules for retries: the failures that are retried, the delays, and the number of attempts.

use super::{Client, ClientError};
use crate::call::{Call, TaskCall, WebhookCall};
use crate::model::{UnixMillis, doubled};

/// A failed request, and the information about retries in its answer.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ClientError,
    /// The delay that the server requires before the next request, in milliseconds.
    pub(super) retry_after_ms: Option<u64>,
    /// True if it is certain that the server has not acted on the request.
    pub(super) is_untouched: bool,
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self { error, retry_after_ms: None, is_untouched: false }
    }
}

/// The retries of one call.
pub(super) struct Retries {
    failures: u32,
    is_repeatable: bool,
    deadline: Option<UnixMillis>,
}

impl Retries {
    pub(super) fn new(call: &Call, deadline: Option<UnixMillis>) -> Self {
        Self { failures: 0, is_repeatable: is_repeatable(call), deadline }
    }

    /// Waits until the call may be retried.
    ///
    /// # Errors
    ///
    /// The failure, if the call may not be retried: the failure is final, there were too many failures, or the time is over.
    pub(super) async fn wait(
        &mut self,
        client: &Client,
        failure: Failure,
    ) -> Result<(), ClientError> {
        let may_pass = failure.error.may_pass() && (self.is_repeatable || failure.is_untouched);
        if !may_pass || self.failures >= client.settings().max_retries {
            return Err(failure.error);
        }
        self.failures += 1;
        let delay_ms =
            client.retry_delay_ms(self.failures).max(failure.retry_after_ms.unwrap_or(0));
        let clock = &client.ports().clock;
        let is_too_late = self.deadline.is_some_and(|end| clock.now().after(delay_ms) >= end);
        if is_too_late || failure.retry_after_ms.is_some_and(|wanted| wanted > MAX_RETRY_AFTER_MS) {
            return Err(failure.error);
        }
        clock.sleep(delay_ms).await;
        Ok(())
    }
}

impl Client {
    /// The delay after this number of consecutive failures, in milliseconds. The settings' delay doubles with each further
    /// failure, up to 30 s; the result is a random value between half of that and all of it.
    pub(super) fn retry_delay_ms(&self, failures: u32) -> u64 {
        let delay_ms = doubled(self.settings().retry_delay_ms, failures, MAX_DELAY_MS);
        let chance = self.ports().random.chance().clamp(0.0, 1.0);
        let jitter_ms = (delay_ms as f64 / 2.0 * chance) as u64;
        delay_ms.div_ceil(2) + jitter_ms
    }
}

/// True if a call can be repeated without a second effect. A send can, because all its attempts have the same message id and
/// the same `Idempotency-Key`.
fn is_repeatable(call: &Call) -> bool {
    match call {
        Call::Task(TaskCall::Webhook(call)) => match call {
            WebhookCall::CreateTaskPushNotificationConfig(webhook) => !webhook.id.is_empty(),
            WebhookCall::RedeliverTaskPushNotifications(_)
            | WebhookCall::TestTaskPushNotificationConfig(_) => false,
            WebhookCall::GetTaskPushNotificationConfig(_)
            | WebhookCall::ListTaskPushNotificationConfigs(_)
            | WebhookCall::DeleteTaskPushNotificationConfig(_)
            | WebhookCall::ListTaskPushNotificationDeliveries(_)
            | WebhookCall::VerifyTaskPushNotificationSignature(_) => true,
        },
        Call::Task(_)
        | Call::Follow(_)
        | Call::List(_)
        | Call::Webhooks(_)
        | Call::Context(_)
        | Call::Card => true,
    }
}

pub(super) const MAX_DELAY_MS: u64 = 30_000;

/// The longest `Retry-After` for which the client waits: five minutes, in milliseconds. If the server requires more, the
/// call is not retried, and the error contains the required time.
pub(super) const MAX_RETRY_AFTER_MS: u64 = 300_000;
