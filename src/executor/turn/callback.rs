//! URLs that a run passes to other systems, to which they post.

use crate::task::CallbackName;
use a2a::model::{Part, UnixMillis};

/// A URL that a run passes to another system. The system posts its results to the URL: `POST
/// <origin>/<agent>/callbacks/<token>`, with a body of up to 1 MiB.
///
/// Everybody who has the URL may post to it: the URL contains 256 random bits and needs no other credentials, so pass it
/// only to the system that posts. A run that resumes has the same URL. The URL survives restarts and deploys, and ends
/// with its turn. When its turn is over, or the URL is used up or expired, a post to it is answered with 404, like for a
/// URL that never existed.
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

    /// The time until which the callback accepts bodies.
    pub fn expires(&self) -> UnixMillis {
        self.expires
    }
}

/// The number of uses of a callback, and the time for which it can be used.
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

    /// `uses` times, from 1 to [`MAX_CALLBACK_USES`], within 30 days.
    pub const fn times(uses: u32) -> Self {
        Self { uses, lifetime_ms: 30 * 86_400_000 }
    }

    /// Within this number of milliseconds after the callback was made, at most
    /// [`LONGEST_WAIT_MS`](super::LONGEST_WAIT_MS).
    #[must_use]
    pub const fn for_millis(self, lifetime_ms: u64) -> Self {
        Self { lifetime_ms, ..self }
    }
}

/// The reason for the end of a wait for a callback.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// A system has posted this body: JSON as data, other text as text, anything else as bytes, with the media type
    /// that the sender has named. A body that is declared as JSON, but breaks the limits for JSON or cannot be parsed,
    /// is text.
    Body(Part),
    /// The time is over.
    Time,
    /// The client has sent a message; [`Turn::next_message`](super::Turn::next_message) returns it at once.
    Message,
}

impl Called {
    /// The posted body; `None` if the wait ended in another way.
    pub fn body(self) -> Option<Part> {
        match self {
            Self::Body(body) => Some(body),
            Self::Time | Self::Message => None,
        }
    }
}

/// The largest number of uses of a callback.
pub const MAX_CALLBACK_USES: u32 = 1_000;
