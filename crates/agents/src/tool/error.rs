//! Why a call of a tool failed, and who is at fault.

use std::fmt;

use a2a::http::HttpError;

/// Why a call failed, in words that the caller may read, by who can do something about it.
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
    /// The caller's arguments are wrong: the same call cannot succeed. It is not tried again.
    Arguments(String),
    /// The tool itself failed, or its deployment lacks something, as a secret.
    Tool(String),
    /// Something that the tool called failed, or did not answer.
    Upstream(String),
}

impl ToolError {
    /// An error of the tool itself.
    pub fn new(text: impl Into<String>) -> Self {
        Self::Tool(text.into())
    }

    /// An error of something that the tool called.
    pub fn upstream(text: impl Into<String>) -> Self {
        Self::Upstream(text.into())
    }

    /// An error of the caller, whose arguments are wrong.
    pub fn arguments(text: impl Into<String>) -> Self {
        Self::Arguments(text.into())
    }

    /// For a secret that a tool needs and the deployment does not have.
    pub fn no_secret(name: &str) -> Self {
        Self::Tool(format!("the secret {name} is not set, or empty"))
    }

    /// For a variable that a tool needs and the deployment does not have.
    pub fn no_variable(name: &str) -> Self {
        Self::Tool(format!("the variable {name} is not set, or empty"))
    }

    /// Who is at fault.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Arguments(_) => Fault::Arguments,
            Self::Tool(_) => Fault::Tool,
            Self::Upstream(_) => Fault::Upstream,
        }
    }

    /// The reason, without who is at fault.
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

/// Who is at fault when a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The caller.
    Arguments,
    /// The tool, or its deployment.
    Tool,
    /// What the tool called.
    Upstream,
}

impl Fault {
    /// Its name on the wire: `arguments`, `tool` or `upstream`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Tool => "tool",
            Self::Upstream => "upstream",
        }
    }

    /// The fault of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Arguments, Self::Tool, Self::Upstream].into_iter().find(|fault| fault.name() == name)
    }

    /// An error of this fault.
    pub fn error(self, text: String) -> ToolError {
        match self {
            Self::Arguments => ToolError::Arguments(text),
            Self::Tool => ToolError::Tool(text),
            Self::Upstream => ToolError::Upstream(text),
        }
    }
}
