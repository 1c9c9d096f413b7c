//! The conditions of rules: which messages a rule matches.

use regex_lite::Regex;
use serde_json::Value;

use super::Values;
use crate::table::Reader;
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
        const KEYS: [&str; 3] = ["text", "message_id", "pattern"];
        keys.only(&KEYS);
        if KEYS.into_iter().filter(|key| keys.has(key)).count() != 1 {
            let fix = "needs exactly one of text, message_id and pattern; leave it out to take every message";
            keys.report("", fix);
            return None;
        }
        if let Some(text) = keys.text("text") {
            return Some(Self::Text(text));
        }
        for key in ["message_id", "pattern"] {
            if keys.value(key).and_then(Value::as_str) == Some("") {
                keys.report(key, "must not be empty; leave `when` out to take every message");
                return None;
            }
        }
        if let Some(prefix) = keys.text("message_id") {
            return Some(Self::MessageId(prefix));
        }
        let pattern = Pattern::try_from(keys.text("pattern")?);
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
