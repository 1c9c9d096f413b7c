//! The limits of a message, its id, and the id that a client chose for its task.

use crate::config::Settings;
use crate::forms::address::ObjectId;
use a2a::Call;
use a2a::client::{DEPTH_KEY, depth_of};
use a2a::dialect::Dialects;
use a2a::error::Error;
use a2a::model::{Message, SendMessageRequest, TaskId, Uuid};

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
    // The message is stored, and a short text uses several times its length in memory.
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

/// Sets the id of a message that has none, because its dialect has no ids of messages: the idempotency key, so that the
/// task recognizes a repeated message, or a new id.
pub(super) fn name_message(message: &mut Message, key: Option<&str>, new_id: fn() -> Uuid) {
    if message.message_id.is_empty() {
        message.message_id = key.map_or_else(|| new_id().into(), str::to_owned);
    }
}

/// The id that a client chose for the task of a call, if the client chose one. A message with an id that this server
/// made is for the existing task with that id, and begins no task. No task has an id that is too long.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a message with a chosen id that no task can have.
pub(super) fn settle_chosen_id(
    dialects: &Dialects,
    call: &mut Call,
    chosen_id: Option<TaskId>,
) -> Result<Option<TaskId>, Error> {
    let is_ours = |id: &TaskId| ObjectId::is_well_formed(id.as_str());
    let is_possible = |id: &TaskId| id.as_str().len() <= MAX_ID_BYTES;
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

/// The largest number of extensions, of other tasks and of media types that a message may name.
pub(super) const MAX_LISTED: usize = 1_000;
