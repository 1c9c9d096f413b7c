//! ListTaskPushNotificationConfigs (spec §3.1.9).

use super::shown::shown;
use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{ListPushNotificationConfigsRequest, ShownWebhook};

/// All webhooks of the task, in the order of their registration.
///
/// # Errors
///
/// There are no errors at the moment.
pub(super) fn list_push_configs(
    task: Owned<'_>,
    _request: &ListPushNotificationConfigsRequest,
) -> Result<Vec<ShownWebhook>, Error> {
    Ok(task.webhooks().into_iter().map(|config| shown(task, config)).collect())
}
