//! Secrets and variables of a deployment, as agents ask for them.

use std::fmt;

use a2a::model::Secret;

/// Who knows the secrets and the variables of a deployment.
pub trait Values {
    /// The secret of this name or, if there is none, the variable. It is read anew each time. Never show it or
    /// write it to a log.
    ///
    /// # Errors
    ///
    /// If neither is set. One that is empty or blank counts as not set.
    fn value(&self, name: &str) -> Result<Secret, NotSet>;
}

/// A secret or a variable that is asked for, and that the deployment does not have. The text is for clients and for
/// the log: it has the name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSet {
    /// What it is: `secret`, `variable`, or `secret or variable`.
    pub what: &'static str,
    /// Its name.
    pub name: String,
}

impl NotSet {
    /// A secret of this name.
    pub fn secret(name: &str) -> Self {
        Self { what: "secret", name: name.to_owned() }
    }

    /// A variable of this name.
    pub fn variable(name: &str) -> Self {
        Self { what: "variable", name: name.to_owned() }
    }

    /// A name that either may have.
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

/// Whether this may be the name of a secret or a variable in an agent file: capital letters, digits and `_`,
/// beginning with a letter.
pub fn is_value_name(name: &str) -> bool {
    let goes_on = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(goes_on)
}
