//! The trait of everything that a model may call: tools of this Worker, tools of MCP servers, other agents and the
//! user.

use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::executor::call::desk::Desk;
use crate::executor::{Events, ExecutorError, Turn};
use a2a::model::decode::Decode;
use a2a::model::{Part, TaskState};
use chat::ToolSpec;

/// Something that a model may call.
///
/// The loop stores the result of a call as a step, and does not repeat a call whose step is done. A call that was interrupted is
/// repeated with the same [key](ModelCall::key), so that the other side can recognize the repetition.
pub(in crate::executor) trait Callable {
    /// The name, description and parameters for the model. The name may contain any characters: the loop replaces those
    /// that models refuse.
    fn spec(&self) -> ToolSpec;

    /// Makes a call.
    ///
    /// # Errors
    ///
    /// The reason why the run fails: the task refuses events, or storage failed. An error that the model can react to, for
    /// example wrong arguments or a tool that failed, is a [`Said::Failed`] instead.
    fn call<'a>(&'a self, call: &'a ModelCall<'a>) -> Saying<'a>;

    /// True if a call with these arguments certainly [asks](Said::Asks) the user. The function does not make the call.
    fn asks(&self, arguments: &Map<String, Value>) -> bool {
        let _ = arguments;
        false
    }

    /// Continues a call that has [asked](Said::Asks) the user in an earlier turn. The message of this turn is the answer, and
    /// `kept` is the data that the call has stored. By default, the text of the message becomes the result.
    ///
    /// # Errors
    ///
    /// The errors of [`call`](Self::call).
    fn answered<'a>(&'a self, call: &'a ModelCall<'a>, kept: &'a Value) -> Saying<'a> {
        let _ = kept;
        Box::pin(async { Ok(Said::Result(super::parts::as_text(&call.turn.message.parts))) })
    }
}

/// The future that makes a call and returns its result.
pub(in crate::executor) type Saying<'a> = LocalBoxFuture<'a, Result<Said, ExecutorError>>;

/// One call that the model makes.
pub(in crate::executor) struct ModelCall<'a> {
    /// The turn that the call is part of.
    pub(in crate::executor) turn: &'a Turn,
    /// The events of the run, through which the call reports its progress.
    pub(in crate::executor) events: &'a Events,
    /// The position of the call in the turn, for example `2.1`: the first call of the second round. Its steps are named
    /// `2.1/…`.
    pub(in crate::executor) key: String,
    /// The arguments.
    pub(in crate::executor) arguments: Map<String, Value>,
    /// True if an earlier attempt may have made this call.
    pub(in crate::executor) is_doubtful: bool,
    /// Serializes the questions that the calls of the round ask while their connections are open.
    pub(in crate::executor) desk: &'a Desk<'a>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) enum Said {
    /// The result, as text for the model.
    Result(String),
    /// The error, as text for the model.
    Failed(String),
    /// The call needs an answer of the user. The user is asked when all other calls of the round are done.
    Asks(Box<Question>),
}

/// The question of a call to the user.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[serde(from = "StoredQuestion", into = "StoredQuestion")]
pub(in crate::executor) struct Question {
    /// The state that the task enters: `input-required` or `auth-required`.
    pub(in crate::executor) state: TaskState,
    /// The question.
    pub(in crate::executor) parts: Vec<Part>,
    /// The data that the call needs to continue after the answer.
    pub(in crate::executor) kept: Value,
}

/// The form in which steps store a question.
#[derive(Serialize, Decode)]
#[serde(rename_all = "camelCase")]
struct StoredQuestion {
    needs_auth: bool,
    parts: Vec<Part>,
    kept: Value,
}

impl From<Question> for StoredQuestion {
    fn from(Question { state, parts, kept }: Question) -> Self {
        Self { needs_auth: state == TaskState::AuthRequired, parts, kept }
    }
}

impl From<StoredQuestion> for Question {
    fn from(StoredQuestion { needs_auth, parts, kept }: StoredQuestion) -> Self {
        let state = if needs_auth { TaskState::AuthRequired } else { TaskState::InputRequired };
        Self { state, parts, kept }
    }
}

impl ModelCall<'_> {
    /// The id of the artifact for the files that a tool returns. The id contains the turn's number, because `key` is
    /// unique only within a turn.
    pub(in crate::executor) fn artifact_id(&self, tool: &str) -> String {
        let Self { turn, key, .. } = self;
        match turn.number {
            1 => format!("{tool}-{key}"),
            number => format!("{tool}-{number}.{key}"),
        }
    }
}

impl Said {
    /// A failure with the text `error: <reason>` for the model.
    pub(in crate::executor) fn error(reason: impl std::fmt::Display) -> Self {
        Self::Failed(format!("error: {reason}"))
    }
}
