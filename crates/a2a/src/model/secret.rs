//! Texts that must not appear in logs.

use std::fmt;

use serde::Serialize;

/// A text that must not appear in logs: only [`reveal`](Self::reveal) and serialization expose it.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_only_where_it_is_asked_for() {
        let secret = Secret::new("key");
        assert_eq!(format!("{secret:?}"), "…");
        assert_eq!(secret.reveal(), "key");
        assert_eq!(serde_json::to_string(&secret).unwrap(), r#""key""#);
    }
}
