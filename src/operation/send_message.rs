//! SendMessage (spec §3.1.1): a message begins a task, or goes on with one.
//!
//! # A send
//!
//! A message without task id gets a new object. Its session begins as a *draft*: nothing is stored before the executor emits something about a task, or
//! `TASK_GRACE_MS` is over. So an agent that answers with a direct message writes no row, and one that panics before it emitted anything leaves nothing
//! behind. The run is polled once within the send, so the answer of a quick agent waits for no turn of the event loop. One that waits goes on under
//! `State::wait_until`, also when the client leaves. A run that is begun is started by the operation, when what it must find is stored and registered. Each poll is guarded by `catch_unwind`: in the
//! unwind build a panic fails its own task only. In the aborting build the instance is gone; the runtime makes a new one at
//! the next request, and objects are rebuilt from their rows.
//!
//! The task of a plain blocking send is *unannounced* at first: no alarm is set for it, and when it is finished with its first row, that row already says that
//! the index has it. It is announced when its answer is about to leave, when its run waits for the first time (for a timer, a server, a message: from then on
//! somebody else may know of it), when any other request reaches its object, or when the index has answered, whichever comes first. In that moment, in one synchronous block, the row
//! is corrected if the index did not confirm, and the alarm is set for what the task wants. A send with an `Idempotency-Key`, a webhook or a stream, or one that returns
//! immediately, announces its task at once.
//!
//! `RUN_TIMEOUT_MS` bounds a run, `BLOCKING_LIMIT_MS` a blocking send, which then answers with the working task.
//!
//! A send with an `Idempotency-Key` goes to the object that is named by agent, key and caller, so all repetitions meet there. The object keeps a fingerprint
//! of the message: the same message waits for the answer of the first, another one is refused. One with an id that the client has chosen goes to the object of that id, begins the task if there is none, or goes on with it;
//! under a key its message gets the key as its id, so the task knows it again.
//!
//! A message to a task whose run is under way is stored and offered to the run (`Turn::next_message`). If the run ends without taking it, and the task is
//! not finished, the executor runs again.
//!
//! A call carries *terms* (`terms.rs`): what headers say besides the parameters. The generation that a message or a cancel expects is compared with the
//! task's in the same synchronous block as the change, so of several callers one succeeds. With a quota (`MAX_ACTIVE_TASKS`) the
//! front Worker counts the caller's unfinished rows before a send that creates a task, for two seconds at most.

use crate::session::{Announcement, Owned, Sender, TaskSession};
use a2a::error::Error;
use a2a::model::{HistoryLimit, SendMessageRequest};
use a2a::{Outcome, Terms};

/// Delivers a message and waits for what comes of it: a direct message, or the task once it is
/// finished or waits for the client (or, with `returnImmediately`, once it exists). A send that is
/// repeated under its key is not delivered again, and gets the same answer as the first.
///
/// A message without task id begins a task in this session, which must be new, or go on with a task whose id a client has
/// chosen. A blocking send that
/// takes longer than the blocking limit gives the task as it is then; one whose run is parked for longer than that, at
/// once.
///
/// # Errors
///
/// [`Error::TaskNotFound`] if the message names a task that this caller does not have;
/// [`Error::GenerationMismatch`] if that task is not at the generation expected, unless it has received
/// the message before; [`Error::TaskFinished`] if it has ended; [`Error::InvalidParams`] if the
/// message names another context than the task's, or the key was used for another message;
/// [`Error::TooManyTasks`] if the message may not begin a task; [`Error::UsedUp`] if its caller has used up what it may use in
/// the day; [`Error::Internal`] if the agent panicked
/// or storage failed.
pub async fn send_message(
    session: &TaskSession,
    sender: Sender,
    request: SendMessageRequest,
    terms: Terms,
) -> Result<Outcome, Error> {
    let configuration = request.configuration.clone();
    let announcement = if configuration.return_immediately {
        Announcement::AtOnce
    } else {
        Announcement::ByTheAnswer
    };
    let task = deliver(session, sender, request, terms, announcement)?.task();
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

/// What a delivered message did, and the task that it is about.
#[derive(Clone, Copy)]
pub(super) enum Delivered<'a> {
    /// It begins a task.
    Begun(Owned<'a>),
    /// It goes on with a task.
    Continued(Owned<'a>),
    /// It began this task before; nothing has changed.
    Repeated(Owned<'a>),
}

impl<'a> Delivered<'a> {
    /// The task.
    pub(super) fn task(self) -> Owned<'a> {
        match self {
            Self::Begun(task) | Self::Continued(task) | Self::Repeated(task) => task,
        }
    }
}

/// Delivers a message: begins the task, or goes on with it, which for one of a chosen id depends on whether it exists. Its run is not started yet. A task that is begun and announced
/// by the answer must be announced before that leaves.
///
/// # Errors
///
/// As [`send_message`].
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
        if let Some(limit) = terms.over_quota {
            return Err(Error::TooManyTasks(limit));
        }
        if let Some(used_up) = terms.used_up {
            return Err(Error::UsedUp(used_up));
        }
        return session
            .begin(message, metadata, webhook, sender, announcement)
            .map(Delivered::Begun);
    }
    let task = session.owned_by(&sender.agent, &sender.caller, &sender.trail)?;
    // A client repeats a message that it got no answer to: it is told what the message came to, and is not
    // refused because of what it has changed.
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

/// Waits for what comes of a message, as [`send_message`]. `crashes` were known before its run was started.
pub(super) async fn outcome_of(
    task: Owned<'_>,
    crashes: u64,
    return_immediately: bool,
    history: HistoryLimit,
    terms: Terms,
) -> Result<Outcome, Error> {
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
    match task.replied() {
        Some(message) => Ok(Outcome::SentMessage(Box::new(message))),
        None => task.shown(history, terms).map(Outcome::SentTask),
    }
}
