//! The conditions of rules: which messages a rule matches.

use regex_lite::Regex;

use super::Values;
use crate::table::{Keys, Reader, keys};
use a2a::model::Message;

/// The messages that a rule matches; in the file, a table with one of these keys.
///
/// If several rules match, `text` has priority over `message_id`, `message_id` over `pattern`, and `pattern` over no
/// condition. Among equal kinds the longest match has priority, then the first in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `text`: messages with exactly this text.
    Text(String),
    /// `message_id`: messages whose id begins with this text.
    MessageId(String),
    /// `pattern`: messages whose text contains a match of this regular expression.
    Pattern(Pattern),
}

/// A regular expression in the syntax of the `regex-lite` crate (linear time, no Unicode classes).
#[derive(Clone, Debug)]
pub struct Pattern(pub(super) Regex);

impl Condition {
    /// Reads a condition: exactly one key.
    pub(super) fn read(keys: &mut Reader<'_>) -> Option<Self> {
        keys.only(&KEYS);
        let text = keys.text("text");
        let (message_id, pattern) = (keys.text("message_id"), keys.text("pattern"));
        if !keys.exactly_one(KEYS.names, "; leave it out to take every message") {
            return None;
        }
        if let Some(text) = text {
            return Some(Self::Text(text));
        }
        for (key, given) in [("message_id", &message_id), ("pattern", &pattern)] {
            if given.as_deref() == Some("") {
                keys.report(key, "must not be empty; leave `when` out to take every message");
                return None;
            }
        }
        if let Some(prefix) = message_id {
            return Some(Self::MessageId(prefix));
        }
        let pattern = Pattern::try_from(pattern?);
        pattern.map_err(|fix| keys.report("pattern", fix)).ok().map(Self::Pattern)
    }

    /// The priority of the match (rank of the kind, and length of the match), and the captured texts; `None` if the
    /// message does not match.
    pub(super) fn fit(&self, message: &Message) -> Option<((u8, usize), Values)> {
        let text = message.text();
        let mut values = Values::of(&text);
        match self {
            Self::Text(wanted) => (*wanted == text).then_some(((3, text.len()), values)),
            Self::MessageId(prefix) => {
                message.message_id.starts_with(prefix).then_some(((2, prefix.len()), values))
            }
            Self::Pattern(Pattern(regex)) => {
                let captures = regex.captures(&text)?;
                values.capture(regex, &captures);
                Some(((1, captures.get(0).map_or(0, |found| found.len())), values))
            }
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refused = |error| format!("{text:?} is not a regular expression: {error}");
        Regex::new(&text).map(Self).map_err(refused)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

const KEYS: Keys = keys! {
    /// Matches messages with exactly this text.
    "text",
    /// Matches messages whose id begins with this text.
    "message_id",
    /// Matches messages whose text contains a match of this regular expression.
    "pattern",
};
