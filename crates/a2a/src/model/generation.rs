//! The extension that adds generations to the protocol (`docs/generation.md`).

/// The URI of the extension. Every agent declares it.
pub const GENERATION_EXTENSION: &str = "urn:a2a-edge:generation:v1";

/// The member of a task's metadata that contains the generation, for clients that request the
/// extension.
pub const GENERATION_MEMBER: &str = "urn:a2a-edge:generation:v1/generation";

/// The number of an event of a task: the first event has 1, and every event one more than the one
/// before it.
///
/// It is the `id` of an event in a stream, the position from which a client resumes a stream, and the
/// order of the requests to webhooks (`docs/generation.md`). On the wire and in storage it is a plain
/// number.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Generation(pub u64);

impl Generation {
    /// The position before the first event.
    pub const NONE: Self = Self(0);

    /// The generation of the first event.
    pub const FIRST: Self = Self(1);

    /// The generation of the next event; at most the largest number.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number for a storage whose integers are signed; at most `i64::MAX`.
    pub fn as_i64(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// The position this many events earlier; at least [`NONE`](Self::NONE).
    #[must_use]
    pub fn before(self, events: usize) -> Self {
        Self(self.0.saturating_sub(u64::try_from(events).unwrap_or(u64::MAX)))
    }
}

impl std::fmt::Display for Generation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}
