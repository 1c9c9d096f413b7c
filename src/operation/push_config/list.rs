//! ListTaskPushNotificationConfigs (spec §3.1.9).

use super::shown::shown;
use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{ListPushNotificationConfigsRequest, ShownWebhook};

/// All webhooks of the task, in the order of their registration.
///
/// # Errors
///
/// This operation returns no errors at present.
pub(super) fn list_push_configs(
    task: Owned<'_>,
    _request: &ListPushNotificationConfigsRequest,
) -> Result<Vec<ShownWebhook>, Error> {
    Ok(task.webhooks().into_iter().map(|config| shown(task, config)).collect())
}
