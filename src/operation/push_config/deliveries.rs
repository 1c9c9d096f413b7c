//! ListTaskPushNotificationDeliveries, an operation of our extension.

use serde_json::json;

use crate::push::Delivery;
use crate::session::Owned;
use a2a::error::Error;
use a2a::model::PushNotificationConfigRequest;

/// The state of a webhook's notifications, as JSON: see `docs/webhooks.md`.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such webhook.
pub(super) fn list_deliveries(
    task: Owned<'_>,
    request: &PushNotificationConfigRequest,
) -> Result<String, Error> {
    let shown = task.with_webhook(&request.id, |webhook| {
        let Delivery { done, health, retry_at, last_error, recent, .. } = &webhook.delivery;
        let Delivery { unhealthy_since, dead_letters, .. } = &webhook.delivery;
        let mut attempts = recent.clone();
        if task.is_operators() {
            // Receivers often repeat the URL in their answers; operators see only its origin.
            attempts.iter_mut().for_each(|attempt| attempt.answer = None);
        }
        json!({
            "taskId": task.id(),
            "id": request.id,
            "health": health,
            "failingSince": unhealthy_since.map(|at| at.0),
            "deliveredGeneration": done,
            "nextAttemptAt": retry_at.map(|at| at.0),
            "lastError": last_error,
            "attempts": attempts,
            "deadLetters": dead_letters,
        })
        .to_string()
    });
    shown.ok_or_else(|| Error::TaskNotFound(request.task_id.clone()))
}
