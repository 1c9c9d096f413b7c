//! The errors that functions throw: the text for the log, and the text for the caller.

use crate::executor::Turn;
use crate::port::Observation;
use a2a::model::decode::{Decode, read_json};
use a2a_agents::tool::ToolError;

/// An error that a function has thrown.
#[derive(Debug, Decode)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thrown {
    /// The text of the error.
    failed: String,
    /// The party that caused the error, for a `Failure` of a tool.
    #[serde(default)]
    fault: Option<Blamed>,
    /// True if the author has written the text for callers.
    #[serde(default)]
    is_failure: bool,
    #[serde(default)]
    stack: Option<String>,
}

#[derive(Clone, Copy, Debug, Decode)]
#[serde(rename_all = "lowercase")]
enum Blamed {
    Arguments,
    Tool,
    Upstream,
}

impl Thrown {
    /// Reads the error in the end of a function; a text of another form is an error itself.
    pub(super) fn read(text: &str) -> Self {
        read_json(text).unwrap_or_else(|error| Self {
            failed: format!("its end cannot be read: {error}"),
            fault: None,
            is_failure: false,
            stack: None,
        })
    }

    /// The text for the caller. An error that the author has not written for callers is logged, and replaced outside of development: it may
    /// contain URLs, keys or statements of databases.
    pub(super) fn told(self, turn: &Turn, function: &str, is_development: bool) -> String {
        let Self { failed, is_failure, stack, .. } = self;
        if is_failure {
            return failed;
        }
        let reason = turn.redaction.text(stack.as_deref().unwrap_or(&failed)).into_owned();
        turn.outside.observer.observe(&Observation::FunctionFailed {
            agent: &turn.agent,
            task: &turn.task_id,
            function,
            reason: &reason,
        });
        if is_development { failed } else { SAFE.to_owned() }
    }

    /// The error of a tool.
    pub(super) fn tool_error(self, turn: &Turn, function: &str, is_development: bool) -> ToolError {
        let fault = self.fault;
        let told = self.told(turn, function, is_development);
        match fault {
            Some(Blamed::Arguments) => ToolError::Arguments(told),
            Some(Blamed::Upstream) => ToolError::Upstream(told),
            Some(Blamed::Tool) | None => ToolError::Tool(told),
        }
    }
}

/// The text for callers in place of an error that is not meant for them.
const SAFE: &str =
    "the agent failed; its operator finds the reason in the log under the id of the task";
