//! The revisions of the protocol.

use std::fmt;

/// A revision of the protocol; an older revision compares as less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// 2025-03-26: the first revision over streamable HTTP.
    V2025_03_26,
    /// 2025-06-18: structured results, links to resources, forms.
    V2025_06_18,
    /// 2025-11-25: questions by URL.
    V2025_11_25,
    /// 2026-07-28: no sessions, no requests of servers.
    V2026_07_28,
}

/// The newest revision.
pub const LATEST: Revision = Revision::V2026_07_28;

impl Revision {
    /// All revisions, the newest first.
    pub const ALL: [Self; 4] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26];

    /// The text of the revision on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision with this text; `None` for an unknown revision.
    ///
    /// ```
    /// use mcp::model::Revision;
    ///
    /// assert_eq!(Revision::parse("2025-06-18"), Some(Revision::V2025_06_18));
    /// assert_eq!(Revision::parse("2024-11-05"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// True if requests are independent of each other, which is only the case for 2026-07-28.
    pub fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
