//! SendMessage (spec §3.1.1): a message begins a task, or continues one.
//!
//! # A send
//!
//! A message without task id is sent to a new object. Its session begins as a *draft*: nothing is stored before the executor
//! emits something about a task, or `TASK_GRACE_MS` is over. So an agent that answers with a direct message writes no row, and an
//! agent that panics before its first event leaves no data behind. The run is polled once within the send, so a quick agent is
//! answered without a turn of the event loop. A run that waits continues under `State::wait_until`, even if the client
//! disconnects. The operation starts a run only after everything that the run needs is stored and registered. A panic in a
//! poll fails its task alone ([`panic`](crate::panic)).
//!
//! The task of a plain blocking send is *unannounced* at first: no alarm is set for it, and if it is finished with its first row,
//! that row already records that the index has it. It is announced by whichever of these happens first: its answer is about to be
//! sent; its run waits for the first time (for a timer, a server or a message: from then on another party may know the task);
//! another request reaches its object; the index has answered. At that moment, in one synchronous block, the row is corrected if
//! the index did not confirm, and the alarm is set for the deadlines of the task. A send with an `Idempotency-Key`, a webhook or
//! a stream, or a send that returns immediately, announces its task at once.
//!
//! `RUN_TIMEOUT_MS` limits a run, `BLOCKING_LIMIT_MS` a blocking send, which then answers with the working task.
//!
//! A send with an `Idempotency-Key` is sent to the object whose name consists of agent, key and caller, so all repetitions reach
//! the same object. The object stores a fingerprint of the message: the same message waits for the answer of the first send,
//! another message is refused. A send with an id that the client has chosen is sent to the object of that id, and begins the task
//! or continues it. If such a send also has a key, the key becomes the id of its message, by which the task recognizes a
//! repetition.
//!
//! A message to a task whose run is under way is stored and offered to the run (`Turn::next_message`). If the run ends without
//! reading the message, and the task is not finished, the executor runs again.
//!
//! A call carries *terms* (`terms.rs`): conditions from headers in addition to the parameters. The generation that a message or a
//! cancel expects is compared with the task's in the same synchronous block as the change, so only one of several callers
//! succeeds. With a quota (`MAX_ACTIVE_TASKS`, `[quota]`), the front Worker reserves a place for the task before a send that begins
//! one; this takes at most two seconds. A send that begins none gives the place back before it is answered.

use crate::session::{Announcement, Owned, Reserved, Sender, TaskSession};
use a2a::error::Error;
use a2a::model::{HistoryLimit, Message, SendMessageRequest};
use a2a::{Outcome, Terms};

/// Delivers a message and waits for the result: a direct message, or the task as soon as it is finished or waits for the client
/// (or, with `returnImmediately`, as soon as it exists). A send that is repeated with its key is not delivered again, and gets
/// the same answer as the first.
///
/// A message without task id begins a task in this session, which must be new, or continues a task whose id a client has chosen.
/// A blocking send that takes longer than the blocking limit returns the task of that moment; a blocking send whose run is parked
/// for longer than the limit returns at once.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if the message names a task that does not belong to this caller; [`Error::GenerationMismatch`] if the
/// task is not at the expected generation, unless it has already received the message; [`Error::TaskFinished`] if it has ended;
/// [`Error::InvalidParams`] if the message names another context than the task's, or the key was used for another message;
/// [`Error::OverQuota`] if the message may not begin a task; [`Error::UsedUp`] if the caller has used up a limit of the day;
/// [`Error::Internal`] if the agent panicked or storage failed.
pub async fn send_message(
    session: &TaskSession,
    sender: Sender,
    request: SendMessageRequest,
    terms: Terms,
) -> Result<Outcome, Error> {
    let reserved = Reserved::by(&sender, terms);
    let sent = send(session, sender, request, terms, reserved.as_ref()).await;
    if let Some(reserved) = reserved {
        session.give_back(reserved).await;
    }
    sent
}

async fn send(
    session: &TaskSession,
    sender: Sender,
    request: SendMessageRequest,
    terms: Terms,
    reserved: Option<&Reserved>,
) -> Result<Outcome, Error> {
    let configuration = request.configuration.clone();
    let announcement = if configuration.return_immediately {
        Announcement::AtOnce
    } else {
        Announcement::ByTheAnswer
    };
    let delivered = deliver(session, sender, request, terms, announcement)?;
    delivered.hold(session, reserved);
    let task = delivered.task();
    let crashes = task.crashes();
    task.start_run();
    let history = HistoryLimit::from_wire(configuration.history_length);
    let outcome = outcome_of(task, crashes, configuration.return_immediately, history, terms).await;
    if !configuration.return_immediately {
        task.until_indexed().await;
    }
    task.announce();
    outcome
}

/// The effect of a delivered message, with its task.
#[derive(Clone, Copy)]
pub(super) enum Delivered<'a> {
    /// The message has begun a task.
    Begun(Owned<'a>),
    /// The message has continued a task.
    Continued(Owned<'a>),
    /// The message had begun this task before; nothing has changed.
    Repeated(Owned<'a>),
}

impl<'a> Delivered<'a> {
    /// Notes that the place for the task is held, if the message has begun one.
    pub(super) fn hold(self, session: &TaskSession, reserved: Option<&Reserved>) {
        if let (Self::Begun(_), Some(reserved)) = (self, reserved) {
            reserved.hold(session);
        }
    }

    /// The task.
    pub(super) fn task(self) -> Owned<'a> {
        match self {
            Self::Begun(task) | Self::Continued(task) | Self::Repeated(task) => task,
        }
    }
}

/// Delivers a message: begins the task, or continues it. With a chosen id, this depends on the existence of the task. The run is
/// not started yet. If the answer announces the new task, the caller must announce it before the answer is sent.
///
/// # Errors
///
/// The errors of [`send_message`].
pub(super) fn deliver(
    session: &TaskSession,
    sender: Sender,
    request: SendMessageRequest,
    terms: Terms,
    announcement: Announcement,
) -> Result<Delivered<'_>, Error> {
    let SendMessageRequest { mut message, metadata, configuration, .. } = request;
    message.task_id = message.task_id.or_else(|| session.chosen_task().cloned());
    let webhook = configuration.task_push_notification_config;
    if message.task_id.is_none() {
        if let Some(task) = session.repeated(&sender)? {
            return Ok(Delivered::Repeated(task));
        }
        if let Some(quota) = terms.over_quota {
            return Err(Error::OverQuota(quota));
        }
        if let Some(used_up) = terms.used_up {
            return Err(Error::UsedUp(used_up));
        }
        return session
            .begin(message, metadata, webhook, sender, announcement)
            .map(Delivered::Begun);
    }
    let task = session.owned_by(&sender.agent, &sender.caller, &sender.trail)?;
    // A client repeats a message whose answer it has not received. The repetition gets the result of the message, and is not
    // refused because of changes that the message itself has made.
    if !task.has_received(&message) {
        if let Some(used_up) = terms.used_up {
            return Err(Error::UsedUp(used_up));
        }
        task.check_generation(terms.expected)?;
        task.check_room()?;
    }
    task.receive(message, metadata, webhook, sender)?;
    Ok(Delivered::Continued(task))
}

/// Waits for the result of a message, like [`send_message`]. `crashes` is the number of crashes before the run was started.
async fn outcome_of(
    task: Owned<'_>,
    crashes: u64,
    return_immediately: bool,
    history: HistoryLimit,
    terms: Terms,
) -> Result<Outcome, Error> {
    match reply_of(task, crashes, return_immediately, terms).await? {
        Some(message) => Ok(Outcome::SentMessage(Box::new(message))),
        None => task.shown(history, terms).map(Outcome::SentTask),
    }
}

/// Waits as [`outcome_of`] does. Returns the message of an agent that answers without a task.
pub(super) async fn reply_of(
    task: Owned<'_>,
    crashes: u64,
    return_immediately: bool,
    terms: Terms,
) -> Result<Option<Message>, Error> {
    let longest_ms = task.limits().blocking_limit_ms;
    let limit_ms = terms.answer_within_ms.unwrap_or(longest_ms).min(longest_ms);
    let condition = || {
        let is_enough = task.is_settled() || (return_immediately && task.exists());
        is_enough
            || task.is_parked_for(limit_ms)
            || task.replied().is_some()
            || task.crashes() > crashes
    };
    task.until(&condition, limit_ms).await;
    if task.crashes() > crashes {
        return Err(task.internal());
    }
    Ok(task.replied())
}
