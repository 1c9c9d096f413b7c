//! Which failures are tried again, when, and how often.

use super::{Client, ClientError};
use crate::call::{Call, TaskCall, WebhookCall};
use crate::model::{UnixMillis, doubled};

/// A request that failed, and what its answer says about trying again.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ClientError,
    /// How long the server wants to be left alone, in milliseconds.
    pub(super) retry_after_ms: Option<u64>,
    /// Whether the server has certainly not acted on the request.
    pub(super) is_untouched: bool,
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self { error, retry_after_ms: None, is_untouched: false }
    }
}

/// The attempts that are left for one call.
pub(super) struct Retries {
    failures: u32,
    is_repeatable: bool,
    deadline: Option<UnixMillis>,
}

impl Retries {
    pub(super) fn new(call: &Call, deadline: Option<UnixMillis>) -> Self {
        Self { failures: 0, is_repeatable: is_repeatable(call), deadline }
    }

    /// Waits until the call may be tried again.
    ///
    /// # Errors
    ///
    /// The failure, if it may not: because it is final, there were too many, or there is no time left.
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
    /// How long to wait after this number of failures in a row: the delay of the settings, doubled for each further one up to 30 s, and
    /// then at random between half of it and all of it.
    pub(super) fn retry_delay_ms(&self, failures: u32) -> u64 {
        let delay_ms = doubled(self.settings().retry_delay_ms, failures, MAX_DELAY_MS);
        let chance = self.ports().random.chance().clamp(0.0, 1.0);
        let jitter_ms = (delay_ms as f64 / 2.0 * chance) as u64;
        delay_ms.div_ceil(2) + jitter_ms
    }
}

/// Whether a call that was made twice does nothing that it would not do once. Sends are among them: they go with the same
/// message id and the same `Idempotency-Key` each time.
fn is_repeatable(call: &Call) -> bool {
    match call {
        Call::Task(TaskCall::Webhook(call)) => match call {
            WebhookCall::CreateTaskPushNotificationConfig(webhook) => !webhook.id.is_empty(),
            WebhookCall::RedeliverTaskPushNotifications(_) => false,
            WebhookCall::GetTaskPushNotificationConfig(_)
            | WebhookCall::ListTaskPushNotificationConfigs(_)
            | WebhookCall::DeleteTaskPushNotificationConfig(_)
            | WebhookCall::ListTaskPushNotificationDeliveries(_) => true,
        },
        Call::Task(_) | Call::Follow(_) | Call::List(_) | Call::Webhooks(_) | Call::Card => true,
    }
}

pub(super) const MAX_DELAY_MS: u64 = 30_000;

/// The longest `Retry-After` that is waited for: five minutes. A server that wants more gets no other request; the error says how
/// long it wants.
pub(super) const MAX_RETRY_AFTER_MS: u64 = 300_000;
