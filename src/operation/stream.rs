//! SendStreamingMessage and SubscribeToTask (spec §3.1.2, §3.1.6): following a task as it happens.
//!
//! These give the first frames for one follower; what happens afterwards reaches all followers
//! through [`Followers::publish`](crate::port::Followers::publish). A follower that has no position yet
//! ignores events until it has seen a snapshot, so there is no gap between the two.

use std::rc::Rc;

use super::send_message::{Delivery, Sender, deliver, wait};
use super::{TaskSession, frame};
use crate::auth::Caller;
use a2a::error::Error;
use a2a::model::{HistoryLimit, SendMessageRequest};
use a2a::{Outcome, Terms};

/// The first frames for a follower, and whether more will come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The frames, in order.
    pub frames: Vec<String>,
    /// What happens next.
    pub next: Next,
}

/// What comes after the first frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Events, as they happen.
    Events,
    /// More of the log: ask again from the position reached.
    MoreOfTheLog,
    /// Nothing.
    Nothing,
}

impl Next {
    /// What comes after the newest event of a task.
    fn live(session: &TaskSession) -> Self {
        if session.is_over() { Self::Nothing } else { Self::Events }
    }
}

/// Delivers a message and begins to follow what comes of it.
///
/// For a new task the events are published from the first one on, so there are no frames here; for
/// one that exists, a snapshot comes first. A send that is repeated under its key follows the task that
/// it began: with a snapshot, or from the event after the generation `after`.
///
/// # Errors
///
/// As SendMessage, and as [`subscribe_to_task`] for `after`: a send that begins its task has no event
/// to come back to, and begins nothing if it names one.
pub async fn send_streaming_message(
    session: &Rc<TaskSession>,
    sender: Sender,
    request: SendMessageRequest,
    after: Option<u64>,
    terms: Terms,
) -> Result<Beginning, Error> {
    let history = HistoryLimit::from_wire(request.configuration.history_length);
    if request.message.task_id.is_none() && !session.is_repeated(&sender)? {
        check_position(after.unwrap_or(0), 0)?;
    }
    let delivery = deliver(session, sender, request, terms)?;
    if delivery == Delivery::Continued {
        return from_snapshot(session, history, terms);
    }
    match (wait(session, true, history, terms).await?, delivery) {
        (Outcome::SentMessage(message), _) => {
            let json = serde_json::to_string(&message).map_err(|_| session.internal())?;
            Ok(Beginning { frames: vec![frame::message(&json)], next: Next::Nothing })
        }
        (_, Delivery::Repeated) => match after {
            Some(after) => missed(session, after),
            None => from_snapshot(session, history, terms),
        },
        (_, Delivery::Begun | Delivery::Continued) => {
            Ok(Beginning { frames: Vec::new(), next: Next::live(session) })
        }
    }
}

/// Begins to follow a task: from the event after the generation `after`, or with a snapshot.
///
/// # Errors
///
/// [`Error::TaskNotFound`]; [`Error::UnsupportedOperation`] for a task that has ended, unless `after`
/// asks for what was missed; [`Error::InvalidParams`] if `after` lies in the future.
pub fn subscribe_to_task(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    after: Option<u64>,
    terms: Terms,
) -> Result<Beginning, Error> {
    session.authorize(agent, caller)?;
    let Some(after) = after else {
        if session.is_over() {
            let hint = "the task has ended, so nothing more will happen; get it with GetTask";
            return Err(Error::UnsupportedOperation(hint.to_owned()));
        }
        return from_snapshot(session, HistoryLimit::All, terms);
    };
    missed(session, after)
}

/// What came after a generation, as much as fits one page.
fn missed(session: &TaskSession, after: u64) -> Result<Beginning, Error> {
    check_position(after, session.generation())?;
    let (mut frames, has_more) = session.frames_after(after)?;
    let next = if has_more { Next::MoreOfTheLog } else { Next::live(session) };
    if frames.is_empty() && next == Next::Events {
        frames.push(frame::ready());
    }
    Ok(Beginning { frames, next })
}

/// Whether a follower can have got the event of the generation `after` of a task that is at `newest`.
fn check_position(after: u64, newest: u64) -> Result<(), Error> {
    if after <= newest {
        return Ok(());
    }
    let description = match newest {
        0 => "must be left out: this send begins a task, which has no events yet".to_owned(),
        newest => format!("must be the id of an event of this task, at most {newest}"),
    };
    Err(Error::invalid("Last-Event-ID", description))
}

/// The task as it stands, then what happens next.
fn from_snapshot(
    session: &TaskSession,
    history: HistoryLimit,
    terms: Terms,
) -> Result<Beginning, Error> {
    let task = session.shown(history, terms)?;
    let state = session.with_task(|task| task.status.state).ok_or_else(|| session.internal())?;
    let frames = vec![frame::snapshot(task.generation, state, &task.json)];
    Ok(Beginning { frames, next: Next::live(session) })
}
