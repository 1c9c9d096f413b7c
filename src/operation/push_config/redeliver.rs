//! RedeliverTaskPushNotifications, an operation of our extension.

use super::shown::shown;
use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{Generation, RedeliverRequest, ShownWebhook};

/// Sends the events from a generation on again, even to a suspended webhook.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such webhook; [`Error::InvalidParams`] if no event has this generation yet;
/// [`Error::Internal`] if storage fails.
pub(super) fn redeliver(
    task: Owned<'_>,
    request: &RedeliverRequest,
) -> Result<ShownWebhook, Error> {
    let (newest, from) = (task.settle_generation()?, Generation(request.from_generation));
    if from > newest {
        let description = format!("must be the generation of an event, at most {newest}");
        return Err(Error::invalid("fromGeneration", description));
    }
    let config = task.restart_webhook(&request.id, from);
    let config = config.ok_or_else(|| Error::TaskNotFound(request.task_id.clone()))?;
    task.commit_webhook(&config.id);
    Ok(shown(task, config))
}
