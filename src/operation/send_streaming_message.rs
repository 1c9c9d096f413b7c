//! SendStreamingMessage (spec §3.1.2): delivers a message, and begins to follow what comes of it.

use super::send_message::{Delivered, deliver, outcome_of};
use crate::session::{Announcement, Beginning, Sender, TaskSession, check_position};
use a2a::error::Error;
use a2a::model::{HistoryLimit, SendMessageRequest};
use a2a::{Outcome, Terms};

/// Delivers a message and begins to follow what comes of it.
///
/// For a new task the events are published from the first one on, so there are no frames here; for
/// one that exists, a snapshot comes first. A send that is repeated under its key follows the task that
/// it began: with a snapshot, or from the event after the generation `after`.
///
/// # Errors
///
/// As SendMessage, and as SubscribeToTask for `after`: a send that begins its task has no event
/// to come back to, and begins nothing if it names one.
pub async fn send_streaming_message(
    session: &TaskSession,
    sender: Sender,
    request: SendMessageRequest,
    after: Option<u64>,
    terms: Terms,
) -> Result<Beginning, Error> {
    let history = HistoryLimit::from_wire(request.configuration.history_length);
    let goes_on = request.message.task_id.is_some() || session.chosen_task().is_some();
    if !goes_on && session.repeated(&sender)?.is_none() {
        check_position(after.unwrap_or(0), 0)?;
    }
    let delivered = deliver(session, sender, request, terms, Announcement::AtOnce)?;
    let task = delivered.task();
    if let Delivered::Continued(task) = delivered {
        // The follower gets what the run says behind the snapshot.
        task.start_run_soon();
        return task.begin_with_snapshot(history, terms);
    }
    let crashes = task.crashes();
    task.start_run();
    match (outcome_of(task, crashes, true, history, terms).await?, delivered, after) {
        (Outcome::SentMessage(message), _, _) => task.begin_with_message(&message),
        (_, Delivered::Repeated(task), Some(after)) => task.begin_with_missed(after),
        (_, Delivered::Repeated(task), None) => task.begin_with_snapshot(history, terms),
        (_, Delivered::Begun(task) | Delivered::Continued(task), _) => Ok(task.begin_live()),
    }
}
