//! Waits that are longer than a run may stay in memory.

use crate::task::{Unanswered, WokenBy};
use a2a::model::UnixMillis;

/// A wait: until an instant, and if wanted also until a message of the client.
///
/// ```
/// use a2a_edge::prelude::*;
///
/// let day = 86_400_000;
/// let _three_days = Wait::for_millis(3 * day);
/// let _answer = Wait::for_millis(day).or_message();
/// let _new_year = Wait::until(UnixMillis(1_798_761_600_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    end: End,
    or_message: bool,
    unanswered: Option<Unanswered>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    At(UnixMillis),
    After(u64),
}

impl Wait {
    /// Until this instant, at most [`LONGEST_WAIT_MS`] away. If the instant is in the past, the wait is over at once.
    pub const fn until(instant: UnixMillis) -> Self {
        Self { end: End::At(instant), or_message: false, unanswered: None }
    }

    /// For this number of milliseconds, at most [`LONGEST_WAIT_MS`]. The end is fixed when the run begins to wait: a
    /// run that was interrupted meanwhile waits for the rest.
    pub const fn for_millis(millis: u64) -> Self {
        Self { end: End::After(millis), or_message: false, unanswered: None }
    }

    /// The same wait, but it also ends when the client sends a message.
    #[must_use]
    pub const fn or_message(self) -> Self {
        Self { or_message: true, ..self }
    }

    /// The same wait, with the counts of the run's unanswered requests. The run that resumes reads them by
    /// [`RunTask::unanswered`](super::RunTask::unanswered).
    pub(crate) const fn unanswered_so_far(self, unanswered: Unanswered) -> Self {
        Self { unanswered: Some(unanswered), ..self }
    }

    /// The unanswered requests that are the reason of the wait.
    pub(crate) fn unanswered(self) -> Option<Unanswered> {
        self.unanswered
    }

    /// The end of the wait, if it begins at `now`.
    pub(crate) fn end(self, now: UnixMillis) -> UnixMillis {
        match self.end {
            End::At(instant) => instant,
            End::After(millis) => now.after(millis),
        }
    }

    /// True if a message ends the wait.
    pub(crate) fn ends_by_message(self) -> bool {
        self.or_message
    }
}

/// The reason for the end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The wait has reached its end.
    Time,
    /// The client has sent a message; [`Turn::next_message`](super::Turn::next_message) returns it at once.
    Message,
}

/// The state of a wait at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStart {
    /// The wait is over, for this reason.
    Over(WokenBy),
    /// The run will be parked as soon as it does nothing else.
    Parks,
}

/// The longest wait: ten years, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 3_653 * 86_400_000;
