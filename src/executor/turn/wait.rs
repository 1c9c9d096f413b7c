//! Waiting for longer than a run may stay in memory.

use crate::task::{Unanswered, WokenBy};
use a2a::model::UnixMillis;

/// What a run waits for: an instant, and a message of the client before that if wanted.
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
    /// Until this instant, at most [`LONGEST_WAIT_MS`] away. One that is past is over at once.
    pub const fn until(instant: UnixMillis) -> Self {
        Self { end: End::At(instant), or_message: false, unanswered: None }
    }

    /// For this many milliseconds, at most [`LONGEST_WAIT_MS`]. The instant is fixed when the run begins to wait: a run
    /// that was interrupted meanwhile waits for what is left.
    pub const fn for_millis(millis: u64) -> Self {
        Self { end: End::After(millis), or_message: false, unanswered: None }
    }

    /// The same, or until the client sends a message, whichever comes first.
    #[must_use]
    pub const fn or_message(self) -> Self {
        Self { or_message: true, ..self }
    }

    /// The same, because nobody has answered the requests of the run. One that goes on is told by
    /// [`RunTask::unanswered`](super::RunTask::unanswered).
    pub(crate) const fn unanswered_so_far(self, unanswered: Unanswered) -> Self {
        Self { unanswered: Some(unanswered), ..self }
    }

    /// The requests for whose sake the run waits.
    pub(crate) fn unanswered(self) -> Option<Unanswered> {
        self.unanswered
    }

    /// The instant, if the wait begins now.
    pub(crate) fn end(self, now: UnixMillis) -> UnixMillis {
        match self.end {
            End::At(instant) => instant,
            End::After(millis) => now.after(millis),
        }
    }

    /// Whether a message ends it.
    pub(crate) fn ends_by_message(self) -> bool {
        self.or_message
    }
}

/// What has ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Its instant has come.
    Time,
    /// The client has sent a message; [`Turn::next_message`](super::Turn::next_message) gives it at once.
    Message,
}

/// What a wait begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStart {
    /// It is over, by this.
    Over(WokenBy),
    /// The run is parked as soon as it does nothing else.
    Parks,
}

/// The longest wait: ten years, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 3_653 * 86_400_000;
