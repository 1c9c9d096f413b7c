//! DeleteTaskPushNotificationConfig (spec §3.1.10).

use crate::session::Owned;
use a2a::error::Error;
use a2a::model::PushNotificationConfigRequest;

/// Deletes a webhook: nothing more is sent to it. Deleting a missing webhook is no error.
///
/// # Errors
///
/// [`Error::Internal`] if storage fails.
pub(super) fn delete_push_config(
    task: Owned<'_>,
    request: &PushNotificationConfigRequest,
) -> Result<(), Error> {
    task.delete_webhook(&request.id)
}
