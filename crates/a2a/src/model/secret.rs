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

    /// True if the secret is this text. The time of the comparison depends on the lengths alone.
    pub fn is(&self, text: &str) -> bool {
        let pairs = self.0.bytes().zip(text.bytes());
        self.0.len() == text.len() && pairs.fold(0, |all, (one, other)| all | (one ^ other)) == 0
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
        assert!(secret.is("key"));
        for other in ["", "ke", "keys", "kez", "Key"] {
            assert!(!secret.is(other), "{other}");
        }
        assert_eq!(serde_json::to_string(&secret).unwrap(), r#""key""#);
    }
}
