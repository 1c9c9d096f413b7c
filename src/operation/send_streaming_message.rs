//! SendStreamingMessage (spec §3.1.2): delivers a message, and begins to follow its task.

use super::send_message::{Delivered, deliver, reply_of};
use crate::session::{Announcement, Beginning, Reserved, Sender, TaskSession, check_position};
use a2a::Terms;
use a2a::error::Error;
use a2a::model::{Generation, HistoryLimit, SendMessageRequest};

/// Delivers a message and begins to follow its task.
///
/// The events of a new task are published from the first one on, so no frames are returned for it; for an existing
/// task, the first frame is a snapshot. A send that is repeated with its key follows the task that it began: with a
/// snapshot, or from the event after the generation `after`.
///
/// # Errors
///
/// The errors of SendMessage, and for `after` those of SubscribeToTask. A send that begins its task has no earlier
/// event to resume from: if the send names one, it is refused and begins nothing.
pub async fn send_streaming_message(
    session: &TaskSession,
    sender: Sender,
    request: SendMessageRequest,
    after: Option<Generation>,
    terms: Terms,
) -> Result<Beginning, Error> {
    let reserved = Reserved::by(&sender, terms);
    let begun = begin(session, sender, request, after, terms, reserved.as_ref()).await;
    if let Some(reserved) = reserved {
        session.give_back(reserved).await;
    }
    begun
}

async fn begin(
    session: &TaskSession,
    sender: Sender,
    request: SendMessageRequest,
    after: Option<Generation>,
    terms: Terms,
    reserved: Option<&Reserved>,
) -> Result<Beginning, Error> {
    let history = HistoryLimit::from_wire(request.configuration.history_length);
    let goes_on = request.message.task_id.is_some() || session.chosen_task().is_some();
    if !goes_on && session.repeated(&sender)?.is_none() {
        check_position(after.unwrap_or_default(), Generation::NONE)?;
    }
    let delivered = deliver(session, sender, request, terms, Announcement::AtOnce)?;
    delivered.hold(session, reserved);
    let task = delivered.task();
    if let Delivered::Continued(task) = delivered {
        // The run starts later, so that the follower receives its events after the snapshot.
        task.start_run_soon();
        return task.begin_with_snapshot(history, terms);
    }
    let crashes = task.crashes();
    task.start_run();
    if let Some(message) = reply_of(task, crashes, true, terms).await? {
        return task.begin_with_message(&message);
    }
    match (delivered, after) {
        (Delivered::Repeated(task), Some(after)) => task.begin_with_missed(after),
        (Delivered::Repeated(task), None) => task.begin_with_snapshot(history, terms),
        (Delivered::Begun(task) | Delivered::Continued(task), _) => Ok(task.begin_live()),
    }
}
