//! Errors of calls of tools, and the party that caused each.

use std::fmt;

use a2a::http::HttpError;

/// The reason why a call failed, for the caller, by the party that can correct it.
///
/// ```
/// use a2a_agents::tool::{Fault, ToolError};
///
/// let error = ToolError::Arguments("there is no city \"Atlantis\"".to_owned());
/// assert_eq!(error.fault(), Fault::Arguments);
/// assert_eq!(ToolError::new("the table of cities is empty").fault(), Fault::Tool);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolError {
    /// The caller's arguments are invalid: the same call cannot succeed, so it is not repeated.
    Arguments(String),
    /// The tool itself failed, or its deployment lacks a value, as a secret.
    Tool(String),
    /// A server or an agent that the tool called failed, or did not answer.
    Upstream(String),
}

impl ToolError {
    /// An error of the tool itself.
    pub fn new(text: impl Into<String>) -> Self {
        Self::Tool(text.into())
    }

    /// An error of a server or an agent that the tool called.
    pub fn upstream(text: impl Into<String>) -> Self {
        Self::Upstream(text.into())
    }

    /// An error of the caller, whose arguments are invalid.
    pub fn arguments(text: impl Into<String>) -> Self {
        Self::Arguments(text.into())
    }

    /// The error for a secret that the tool needs and that is not set.
    pub fn no_secret(name: &str) -> Self {
        Self::Tool(format!("the secret {name} is not set, or empty"))
    }

    /// The error for a variable that the tool needs and that is not set.
    pub fn no_variable(name: &str) -> Self {
        Self::Tool(format!("the variable {name} is not set, or empty"))
    }

    /// The party that caused the error.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Arguments(_) => Fault::Arguments,
            Self::Tool(_) => Fault::Tool,
            Self::Upstream(_) => Fault::Upstream,
        }
    }

    /// The reason, without the party that caused it.
    pub fn text(&self) -> &str {
        let (Self::Arguments(text) | Self::Tool(text) | Self::Upstream(text)) = self;
        text
    }

    /// The same error with another text.
    #[must_use]
    pub fn with_text(&self, text: impl Into<String>) -> Self {
        self.fault().error(text.into())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

impl std::error::Error for ToolError {}

impl From<HttpError> for ToolError {
    fn from(error: HttpError) -> Self {
        Self::Upstream(error.to_string())
    }
}

/// The party that caused the failure of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The caller, by its arguments.
    Arguments,
    /// The tool, or its deployment.
    Tool,
    /// A server or an agent that the tool called.
    Upstream,
}

impl Fault {
    /// The name in JSON: `arguments`, `tool` or `upstream`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Tool => "tool",
            Self::Upstream => "upstream",
        }
    }

    /// The fault with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Arguments, Self::Tool, Self::Upstream].into_iter().find(|fault| fault.name() == name)
    }

    /// An error with this fault.
    pub fn error(self, text: String) -> ToolError {
        match self {
            Self::Arguments => ToolError::Arguments(text),
            Self::Tool => ToolError::Tool(text),
            Self::Upstream => ToolError::Upstream(text),
        }
    }
}
