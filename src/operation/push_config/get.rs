//! GetTaskPushNotificationConfig (spec §3.1.8).

use super::shown::shown;
use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{PushNotificationConfigRequest, ShownWebhook};

/// One webhook; without an id, the webhook that was registered first.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such webhook.
pub(super) fn get_push_config(
    task: Owned<'_>,
    request: &PushNotificationConfigRequest,
) -> Result<ShownWebhook, Error> {
    let config = match request.id.as_str() {
        "" => task.first_webhook(),
        id => task.with_webhook(id, |webhook| webhook.config.clone()),
    };
    let config = config.ok_or_else(|| Error::TaskNotFound(request.task_id.clone()))?;
    Ok(shown(task, config))
}
