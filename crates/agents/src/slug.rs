//! Slugs: the names of agents. A slug is the first segment of the agent's path, and the agent's tenant.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use serde::Serialize;
use serde_json::Value;

use a2a::model::decode::{Fields, Member};

/// The slug of an agent: 1 to 63 lower-case letters, digits and `-`, beginning with a letter. Words that the Worker uses or
/// reserves for its own paths are excluded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Slug(String);

impl Slug {
    /// Parses a slug.
    ///
    /// # Errors
    ///
    /// The rule for a slug, as a text that continues the name of the value.
    pub fn parse(text: &str) -> Result<Self, String> {
        if RESERVED.contains(&text) {
            return Err(format!("must not be {text:?}, which the server keeps for itself"));
        }
        let mut letters = text.chars();
        let begins_well = letters.next().is_some_and(|letter| letter.is_ascii_lowercase());
        let goes_on_well = letters
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
        if begins_well && goes_on_well && text.len() <= MAX_CHARS {
            return Ok(Self(text.to_owned()));
        }
        let rule = "lower-case letters, digits and `-`, beginning with a letter";
        Err(format!("must be {rule}, at most {MAX_CHARS}"))
    }

    /// The slug as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Slug {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Slug {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl PartialEq<str> for Slug {
    fn eq(&self, text: &str) -> bool {
        self.0 == text
    }
}

impl PartialEq<&str> for Slug {
    fn eq(&self, text: &&str) -> bool {
        self.0 == *text
    }
}

impl PartialEq<Slug> for &str {
    fn eq(&self, slug: &Slug) -> bool {
        *self == slug.0
    }
}

/// Checks the slug, because agents in a variable of the deployment were not checked by a checker.
impl Member for Slug {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        let text = fields.text(name, value)?;
        let slug = Self::parse(&text).map_err(|rule| format!("{rule}, got {text:?}"));
        slug.map_err(|rule| fields.refuse(name, rule)).ok()
    }
}

/// The maximum length of a slug.
const MAX_CHARS: usize = 63;

/// First segments of paths that the Worker itself uses, or that are reserved for it.
const RESERVED: [&str; 16] = [
    "_dev",
    "a2a",
    "agent",
    "agents",
    "assets",
    "callbacks",
    "card",
    "console",
    "extended-agent-card",
    "health",
    "mcp",
    "message",
    "metrics",
    "subscribe",
    "tasks",
    "v1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_words_of_small_letters_that_nothing_else_uses() {
        let longest = "a".repeat(63);
        for slug in ["demo", "a", "agent-2", "mcp-demo", &longest] {
            assert_eq!(Slug::parse(slug).as_deref(), Ok(slug));
        }
        let too_long = "a".repeat(64);
        for slug in ["", "Demo", "2nd", "-a", "a_b", "a.b", "ä", &too_long] {
            let refused = Slug::parse(slug).expect_err(slug);
            assert!(refused.starts_with("must be lower-case letters"), "{refused}");
        }
        for slug in [
            "mcp",
            "a2a",
            "subscribe",
            "agent",
            "agents",
            "console",
            "callbacks",
            "_dev",
            "v1",
            "tasks",
        ] {
            let refused = Slug::parse(slug).expect_err(slug);
            assert!(refused.starts_with(&format!("must not be \"{slug}\"")), "{refused}");
        }
    }
}
