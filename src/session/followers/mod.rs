//! The first frames for one follower of a task. Later frames are sent to all followers by
//! [`Followers::publish`](crate::port::Followers::publish).
//!
//! A follower without a position ignores events until it has a snapshot, so no event is lost between the two.

pub mod frame;

use super::TaskSession;
use crate::port::Observation;
use a2a::Terms;
use a2a::error::Error;
use a2a::model::{HistoryLimit, Message};

/// The first frames for a follower, and the continuation after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The frames, in order.
    pub frames: Vec<String>,
    /// The continuation.
    pub next: Next,
}

/// The continuation after the first frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Events, as they happen.
    Events,
    /// More of the log: request the next page from the position reached.
    MoreOfTheLog,
    /// Nothing.
    Nothing,
}

impl Beginning {
    /// For a follower that has every event: no frames.
    pub(super) fn live(session: &TaskSession) -> Self {
        Self { frames: Vec::new(), next: Next::after_newest(session) }
    }

    /// A message instead of a task.
    pub(super) fn message(session: &TaskSession, message: &Message) -> Result<Self, Error> {
        let json = serde_json::to_string(message).map_err(|_| session.internal())?;
        Ok(Self { frames: vec![frame::message(&json)], next: Next::Nothing })
    }

    /// The present task.
    pub(super) fn snapshot(
        session: &TaskSession,
        history: HistoryLimit,
        terms: Terms,
    ) -> Result<Self, Error> {
        let task = session.shown(history, terms)?;
        let state = session.life.state().ok_or_else(|| session.internal())?;
        let frames = vec![frame::snapshot(task.generation, state, &task.json)];
        Ok(Self { frames, next: Next::after_newest(session) })
    }

    /// The events after a generation, up to one page.
    pub(super) fn missed(session: &TaskSession, after: u64) -> Result<Self, Error> {
        check_position(after, session.life.generation())?;
        let (mut frames, has_more) = frames_after(session, after)?;
        let next = if has_more { Next::MoreOfTheLog } else { Next::after_newest(session) };
        if frames.is_empty() && next == Next::Events {
            frames.push(frame::ready());
        }
        Ok(Self { frames, next })
    }
}

impl Next {
    /// The continuation after the newest event of a task.
    fn after_newest(session: &TaskSession) -> Self {
        if session.life.is_over() { Self::Nothing } else { Self::Events }
    }
}

/// Checks that a follower can have received the event of the generation `after` of a task whose newest generation is `newest`.
///
/// # Errors
///
/// [`Error::InvalidParams`] if it cannot.
pub(crate) fn check_position(after: u64, newest: u64) -> Result<(), Error> {
    if after <= newest {
        return Ok(());
    }
    let description = match newest {
        0 => "must be left out: this send begins a task, which has no events yet".to_owned(),
        newest => format!("must be the id of an event of this task, at most {newest}"),
    };
    Err(Error::invalid("Last-Event-ID", description))
}

/// The frames with the events after a generation, up to one page, and whether there are more.
///
/// # Errors
///
/// [`Error::Internal`] when storage fails.
pub(super) fn frames_after(
    session: &TaskSession,
    after: u64,
) -> Result<(Vec<String>, bool), Error> {
    // Store the newest events first: the frames are made of stored rows.
    session.flush().map_err(|_| session.internal())?;
    let page = session.journal.page_after(after).map_err(|error| {
        let (task, reason) = (session.id(), error.to_string());
        session.observe(&Observation::ReadingFailed { task, reason: &reason });
        session.internal()
    })?;
    let frames = page.batches.iter().filter_map(|batch| frame::events(batch, after));
    Ok((frames.collect(), page.has_more))
}
