//! Secrets and variables of a deployment, as agents read them.

use std::fmt;

use a2a::model::Secret;

/// Access to the secrets and variables of a deployment.
pub trait Values {
    /// The secret with this name or, if there is none, the variable. The value is read again in each call. Do not show
    /// it or write it to a log.
    ///
    /// # Errors
    ///
    /// If neither is set. An empty or blank value counts as not set.
    fn value(&self, name: &str) -> Result<Secret, NotSet>;
}

/// A secret or a variable that is needed and not set. The text is for clients and for the log: it contains only the
/// name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSet {
    /// The kind: `secret`, `variable`, or `secret or variable`.
    pub what: &'static str,
    /// The name of the secret or variable.
    pub name: String,
}

impl NotSet {
    /// The error for a secret with this name.
    pub fn secret(name: &str) -> Self {
        Self { what: "secret", name: name.to_owned() }
    }

    /// The error for a variable with this name.
    pub fn variable(name: &str) -> Self {
        Self { what: "variable", name: name.to_owned() }
    }

    /// The error for a name that a secret or a variable may have.
    pub fn value(name: &str) -> Self {
        Self { what: "secret or variable", name: name.to_owned() }
    }
}

impl fmt::Display for NotSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, name } = self;
        write!(out, "the {what} {name} is not set in this deployment, or is empty")
    }
}

impl std::error::Error for NotSet {}

/// True for a name that a secret or a variable in an agent file may have: capital letters, digits and `_`, beginning
/// with a letter.
pub fn is_value_name(name: &str) -> bool {
    let goes_on = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(goes_on)
}
