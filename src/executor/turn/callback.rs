//! URLs that a run gives to others, who post to them.

use crate::task::CallbackName;
use a2a::model::{Part, UnixMillis};

/// A URL that a run gives to somebody else, who posts to it when there is something to tell:
/// `POST <origin>/<agent>/callbacks/<token>`, with a body of up to 1 MiB.
///
/// Who knows the URL may post to it: it holds 256 random bits and asks for nothing else, so it is given only to who is to
/// use it. It is the same in a run that resumes, survives restarts and deploys, and is over with its turn: then, used
/// up, or expired, it is 404 like one that never was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    pub(crate) name: CallbackName,
    pub(crate) url: String,
    pub(crate) expires: UnixMillis,
}

impl Callback {
    /// The URL to post to.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Until when it takes bodies.
    pub fn expires(&self) -> UnixMillis {
        self.expires
    }
}

/// How often and how long a callback can be used.
///
/// ```
/// use a2a_edge::prelude::*;
///
/// let _terms = CallbackTerms::times(3).for_millis(86_400_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackTerms {
    pub(crate) uses: u32,
    pub(crate) lifetime_ms: u64,
}

impl CallbackTerms {
    /// Once, within 30 days.
    pub const ONCE: Self = Self::times(1);

    /// This often, 1 to [`MAX_CALLBACK_USES`] times, within 30 days.
    pub const fn times(uses: u32) -> Self {
        Self { uses, lifetime_ms: 30 * 86_400_000 }
    }

    /// Within this many milliseconds from when the callback is made, at most [`LONGEST_WAIT_MS`](super::LONGEST_WAIT_MS).
    #[must_use]
    pub const fn for_millis(self, lifetime_ms: u64) -> Self {
        Self { lifetime_ms, ..self }
    }
}

/// What has ended a wait for a callback.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// Somebody has posted this: JSON as data, other text as text, anything else as bytes, with the media type that the
    /// sender named. What calls itself JSON and cannot be read as such (by the limits for bodies) is text.
    Body(Part),
    /// The time is over.
    Time,
    /// The client has sent a message; [`Turn::next_message`](super::Turn::next_message) gives it at once.
    Message,
}

impl Called {
    /// The body, if somebody has posted one.
    pub fn body(self) -> Option<Part> {
        match self {
            Self::Body(body) => Some(body),
            Self::Time | Self::Message => None,
        }
    }
}

/// How often a callback can be used at most.
pub const MAX_CALLBACK_USES: u32 = 1_000;
