//! CreateTaskPushNotificationConfig (spec §3.1.7).

use super::shown::{created, shown};
use crate::session::Owned;
use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::{ShownWebhook, TaskPushNotificationConfig};

/// Registers a webhook, which is sent all events from now on. It replaces a webhook with the same id and takes over the
/// unsent notifications of the replaced one. Only the answer that creates a webhook contains its secrets.
///
/// # Errors
///
/// [`Error::UnsupportedOperation`] if the task has reached the limit of webhooks; [`Error::Internal`] if storage
/// fails.
pub(super) fn create_push_config(
    task: Owned<'_>,
    config: TaskPushNotificationConfig,
    dialect: Dialect,
) -> Result<ShownWebhook, Error> {
    let newest = task.settle_generation()?;
    let config = task.named(config, dialect);
    let is_new = task.with_webhook(&config.id, |_| ()).is_none();
    let config = task.register(config, dialect, newest)?;
    if !task.commit_webhook(&config.id) {
        return Err(task.internal());
    }
    Ok(if is_new { created(config) } else { shown(task, config) })
}
