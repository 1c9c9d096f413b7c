//! Which messages a rule takes.

use regex_lite::Regex;
use serde::{Deserialize, Serialize};

use super::Values;
use a2a::model::Message;

/// Which messages a rule takes; in the file, a table with one of these keys.
///
/// When several rules match, exact text goes before message id, message id before pattern, pattern
/// before no condition; within a kind the longest match wins, then the order of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "When", into = "When")]
pub enum Condition {
    /// `text`: messages whose text is exactly this.
    Text(String),
    /// `message_id`: messages whose id begins with this.
    MessageId(String),
    /// `pattern`: messages in whose text this regular expression is found.
    Pattern(Pattern),
}

/// A regular expression in the syntax of the `regex-lite` crate (linear time, no Unicode classes).
#[derive(Clone, Debug)]
pub struct Pattern(pub(super) Regex);

impl Condition {
    /// How well a message fits: rank of the kind and length of the match, and what was captured.
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

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0.as_str().to_owned()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// A condition as it stands in the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table with text, message_id or pattern")]
struct When {
    text: Option<String>,
    message_id: Option<String>,
    pattern: Option<String>,
}

impl TryFrom<When> for Condition {
    type Error = String;

    fn try_from(when: When) -> Result<Self, String> {
        let empty =
            |key| format!("`{key}` must not be empty; leave `when` out to take every message");
        match (when.text, when.message_id, when.pattern) {
            (Some(text), None, None) => Ok(Self::Text(text)),
            (None, Some(prefix), None) if prefix.is_empty() => Err(empty("message_id")),
            (None, Some(prefix), None) => Ok(Self::MessageId(prefix)),
            (None, None, Some(pattern)) if pattern.is_empty() => Err(empty("pattern")),
            (None, None, Some(pattern)) => Pattern::try_from(pattern).map(Self::Pattern),
            _ => Err(
                "`when` needs exactly one of text, message_id and pattern; leave it out to take \
                      every message"
                    .to_owned(),
            ),
        }
    }
}

impl From<Condition> for When {
    fn from(condition: Condition) -> Self {
        let none = Self::default();
        match condition {
            Condition::Text(text) => Self { text: Some(text), ..none },
            Condition::MessageId(prefix) => Self { message_id: Some(prefix), ..none },
            Condition::Pattern(pattern) => Self { pattern: Some(pattern.into()), ..none },
        }
    }
}
