//! The first frames for one follower of a task. Later frames are sent to all followers by
//! [`Followers::publish`](crate::port::Followers::publish).
//!
//! A follower without a position ignores events until it has a snapshot, so no event is lost between the snapshot and the
//! later frames.

pub mod frame;

use super::journal::Journal;
use super::life::Life;
use crate::port::StoreError;
use a2a::ShownTask;
use a2a::error::Error;
use a2a::model::{Generation, TaskState};

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
    pub(super) fn live(life: &Life) -> Self {
        Self { frames: Vec::new(), next: Next::after_newest(life) }
    }

    /// A message, as JSON, instead of a task.
    pub(super) fn message(json: &str) -> Self {
        Self { frames: vec![frame::message(json)], next: Next::Nothing }
    }

    /// The present task, in this state.
    pub(super) fn snapshot(task: &ShownTask, state: TaskState) -> Self {
        let frames = vec![frame::snapshot(Generation(task.generation), state, &task.json)];
        Self { frames, next: Next::after(state) }
    }

    /// The stored events after a generation, up to one page.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn missed(
        life: &Life,
        journal: &Journal,
        after: Generation,
    ) -> Result<Self, StoreError> {
        let (mut frames, has_more) = frames_after(journal, after)?;
        let next = if has_more { Next::MoreOfTheLog } else { Next::after_newest(life) };
        if frames.is_empty() && next == Next::Events {
            frames.push(frame::ready());
        }
        Ok(Self { frames, next })
    }
}

impl Next {
    /// The continuation after the newest event of a task.
    fn after_newest(life: &Life) -> Self {
        life.state().map_or(Self::Events, Self::after)
    }

    /// The continuation after the newest event of a task in this state.
    fn after(state: TaskState) -> Self {
        if state.is_terminal() { Self::Nothing } else { Self::Events }
    }
}

/// Checks that a follower can have received the event of the generation `after` of a task whose newest generation is `newest`.
///
/// # Errors
///
/// [`Error::InvalidParams`] if `after` is higher than `newest`.
pub(crate) fn check_position(after: Generation, newest: Generation) -> Result<(), Error> {
    if after <= newest {
        return Ok(());
    }
    let description = match newest {
        Generation::NONE => {
            "must be left out: this send begins a task, which has no events yet".to_owned()
        }
        newest => format!("must be the id of an event of this task, at most {newest}"),
    };
    Err(Error::invalid("Last-Event-ID", description))
}

/// The frames with the stored events after a generation, up to one page. The second value is true if there are more events.
///
/// # Errors
///
/// If storage fails.
pub(super) fn frames_after(
    journal: &Journal,
    after: Generation,
) -> Result<(Vec<String>, bool), StoreError> {
    let page = journal.page_after(after)?;
    let frames = page.batches.iter().filter_map(|batch| frame::events(batch, after));
    Ok((frames.collect(), page.has_more))
}
