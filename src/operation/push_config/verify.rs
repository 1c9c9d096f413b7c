//! VerifyTaskPushNotificationSignature, an operation of our extension.

use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{VerifySignatureRequest, to_json};

/// Checks the signature of a request that the receiver of a webhook has got. Returns the result, as JSON: see `docs/webhooks.md`.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if there is no such webhook; [`Error::RateLimited`] after too many checks.
#[inline(never)]
pub(super) fn verify_signature(
    task: Owned<'_>,
    request: &VerifySignatureRequest,
) -> Result<String, Error> {
    let checked = task.check_signature(request)?;
    let checked = checked.ok_or_else(|| Error::TaskNotFound(request.task_id.clone()))?;
    // The result contains only texts, numbers and truth values, so encoding cannot fail.
    Ok(to_json(&checked).unwrap_or_default())
}
