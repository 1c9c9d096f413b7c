//! What a model may call: the one seam between the loop and tools, tools of MCP servers, other agents and the user.

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use crate::executor::call::desk::Desk;
use crate::executor::{Events, ExecutorError, Turn};
use a2a::model::{Part, TaskState};
use chat::ToolSpec;

/// Something that a model may call.
///
/// The loop keeps what a call says as a step, and never makes a call again whose step is done. A call that was interrupted is made
/// again: with the same [key](ModelCall::key), so that the other side knows it again.
pub(in crate::executor) trait Callable {
    /// How the model knows it. The name may be any: the loop makes one of it that models take.
    fn spec(&self) -> ToolSpec;

    /// Makes a call.
    ///
    /// # Errors
    ///
    /// Why the run fails: the task takes nothing more, or storage failed. What the model can do something about, as wrong arguments
    /// or a tool that failed, is a [`Said::Failed`].
    fn call<'a>(&'a self, call: &'a ModelCall<'a>) -> Saying<'a>;

    /// Whether a call with these arguments [asks](Said::Asks) the user for certain, as can be told without making it.
    fn asks(&self, arguments: &Map<String, Value>) -> bool {
        let _ = arguments;
        false
    }

    /// Goes on with a call that has [asked](Said::Asks) the user in an earlier turn, whose message answers it. `kept` is what the
    /// call kept. Unless it is said otherwise, the text of the message is the result.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    fn answered<'a>(&'a self, call: &'a ModelCall<'a>, kept: &'a Value) -> Saying<'a> {
        let _ = kept;
        Box::pin(async { Ok(Said::Result(super::parts::as_text(&call.turn.message.parts))) })
    }
}

/// What a call comes to.
pub(in crate::executor) type Saying<'a> = LocalBoxFuture<'a, Result<Said, ExecutorError>>;

/// One call that the model makes.
pub(in crate::executor) struct ModelCall<'a> {
    /// The turn that it is part of.
    pub(in crate::executor) turn: &'a Turn,
    /// Where its progress is said.
    pub(in crate::executor) events: &'a Events,
    /// Its place in the turn, as `2.1`: the first call of the second round. Its steps are named `2.1/…`.
    pub(in crate::executor) key: String,
    /// The arguments.
    pub(in crate::executor) arguments: Map<String, Value>,
    /// Whether an earlier attempt may have made it.
    pub(in crate::executor) is_doubtful: bool,
    /// Where the calls of its round ask the user while they are open.
    pub(in crate::executor) desk: &'a Desk<'a>,
}

/// What a call says.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) enum Said {
    /// The result, as the model is told it.
    Result(String),
    /// What went wrong, as the model is told it.
    Failed(String),
    /// The user is asked first, when all other calls of the round are done.
    Asks(Box<Question>),
}

/// What a call asks the user.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct Question {
    /// The state that the task enters: input required or auth required.
    pub(in crate::executor) state: TaskState,
    /// The question.
    pub(in crate::executor) parts: Vec<Part>,
    /// What the call needs to go on when the question is answered.
    pub(in crate::executor) kept: Value,
}

impl ModelCall<'_> {
    /// The id of the artifact for files that a tool gives. The place of a call says nothing of its turn.
    pub(in crate::executor) fn artifact_id(&self, tool: &str) -> String {
        let Self { turn, key, .. } = self;
        match turn.number {
            1 => format!("{tool}-{key}"),
            number => format!("{tool}-{number}.{key}"),
        }
    }
}

impl Said {
    /// An error that the model is told.
    pub(in crate::executor) fn error(reason: impl std::fmt::Display) -> Self {
        Self::Failed(format!("error: {reason}"))
    }
}
