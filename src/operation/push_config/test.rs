//! TestTaskPushNotificationConfig, an operation of our extension.

use crate::push::{Attempt, Report};
use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{PushNotificationConfigRequest, to_json};

/// Sends a test notification to a webhook at once, in one attempt. Returns this attempt, as JSON: see `docs/webhooks.md`. The
/// state of the webhook does not change.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such webhook; [`Error::RateLimited`] after too many tests.
pub(super) async fn test_webhook(
    task: Owned<'_>,
    request: &PushNotificationConfigRequest,
) -> Result<String, Error> {
    let report = task.test_webhook(&request.id).await?;
    let report = report.ok_or_else(|| Error::TaskNotFound(request.task_id.clone()))?;
    let error = report.failure();
    let outcome = if error.is_none() { "delivered" } else { "failed" };
    let Report { at, generation, duration_ms, status, answer, .. } = report;
    let attempt = Attempt {
        at,
        generation,
        attempt: 1,
        status,
        duration_ms,
        outcome: outcome.to_owned(),
        error,
        answer: answer.filter(|_| !task.is_operators()),
    };
    // An attempt contains only texts and numbers, so encoding cannot fail.
    Ok(to_json(&attempt).unwrap_or_default())
}
