//! The limits of a message, its id, and the id that a client chose for its task.

use crate::config::Settings;
use crate::forms::address::ObjectId;
use a2a::Call;
use a2a::client::{DEPTH_KEY, depth_of};
use a2a::dialect::Dialects;
use a2a::error::Error;
use a2a::model::{Message, SendMessageRequest, TaskId};

/// Checks a message against the limits of the deployment.
///
/// # Errors
///
/// [`Error::InvalidParams`] for the first limit that it exceeds.
pub(super) fn check_message(
    request: &SendMessageRequest,
    settings: &Settings,
) -> Result<(), Error> {
    let parts = request.message.parts.len();
    if parts > settings.max_parts {
        let limit = settings.max_parts;
        let description = format!("must have at most {limit} parts, got {parts}");
        return Err(Error::invalid("message.parts", description));
    }
    let (depth, limit) = (depth_of(&request.message), settings.limits.max_depth);
    if depth > limit {
        let description = format!(
            "must be at most {limit}, got {depth}: agents may call each other {limit} deep (MAX_DEPTH)"
        );
        return Err(Error::invalid(format!("message.metadata.{DEPTH_KEY}"), description));
    }
    // Short texts take several times their bytes in memory, and are kept.
    let message = &request.message;
    for (field, count) in [
        ("message.extensions", message.extensions.len()),
        ("message.referenceTaskIds", message.reference_task_ids.len()),
        ("configuration.acceptedOutputModes", request.configuration.accepted_output_modes.len()),
    ] {
        if count > MAX_LISTED {
            let description = format!("must have at most {MAX_LISTED} entries, got {count}");
            return Err(Error::invalid(field, description));
        }
    }
    Ok(())
}

/// Gives a message an id whose dialect has none for messages: the key that it came under, so that its task knows it again
/// when it is repeated, or a new one.
pub(super) fn name_message(message: &mut Message, key: Option<&str>, new_id: fn() -> String) {
    if message.message_id.is_empty() {
        message.message_id = key.map_or_else(new_id, str::to_owned);
    }
}

/// The id that a client chose for the task that a call is about, if it is one. A message that gives one of the server's ids
/// means the task of that id, and begins none. There is no task of an id that is too long.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a message that chooses an id that no task can have.
pub(super) fn settle_chosen_id(
    dialects: &Dialects,
    call: &mut Call,
    chosen_id: Option<TaskId>,
) -> Result<Option<TaskId>, Error> {
    let is_ours = |id: &TaskId| ObjectId::new(id.as_str()).is_well_formed();
    let is_possible = |id: &TaskId| (1..=MAX_ID_BYTES).contains(&id.as_str().len());
    match chosen_id {
        Some(id) if is_ours(&id) => {
            if let Some(request) = call.message_mut() {
                request.message.task_id = Some(id);
            }
            Ok(None)
        }
        Some(id) if is_possible(&id) => Ok(Some(id)),
        Some(id) => {
            let length = id.as_str().len();
            let description = format!("must have 1 to {MAX_ID_BYTES} bytes, got {length}");
            Err(Error::invalid("id", description))
        }
        None => {
            let is_chosen = |id: &&TaskId| dialects.legacy && !is_ours(id) && is_possible(id);
            Ok(call.task_id().filter(is_chosen).cloned())
        }
    }
}

/// The longest id that a client may choose for a task, in bytes.
pub(super) const MAX_ID_BYTES: usize = 256;

/// How many extensions, other tasks or media types a message may name.
pub(super) const MAX_LISTED: usize = 1_000;
