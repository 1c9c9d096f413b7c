//! The call of a tool, and its request.

use serde_json::{Map, Value, json};

use super::open::{Ask, put};
use super::params::param_headers;
use super::{Client, McpError};
use crate::model::{Answer, Tool};

/// A call of a tool. [`new`](Self::new) makes a call with the usual settings.
#[derive(Clone, Debug)]
pub struct ToolRequest<'a> {
    /// The tool, from the list of its server.
    pub tool: &'a Tool,
    /// The arguments, normally an object; sent unchanged.
    pub arguments: Value,
    /// The answers to all questions of the previous round ([`CallEvent::Asked`](super::CallEvent::Asked)), each with the key
    /// of its question.
    pub answers: Vec<(String, Answer)>,
    /// The state that the server sent with the questions, unchanged.
    pub state: Option<String>,
    /// The round that came with the questions; 0 for a call without answers.
    pub round: u32,
    /// True if progress is requested.
    pub has_progress: bool,
    /// The header `Idempotency-Key`: a server that supports it executes repeated calls with the same key only once. Visible
    /// ASCII.
    pub key: Option<String>,
}

impl<'a> ToolRequest<'a> {
    /// A call of a tool with these arguments, with progress.
    pub fn new(tool: &'a Tool, arguments: Value) -> Self {
        let (answers, state, round, key) = (Vec::new(), None, 0, None);
        Self { tool, arguments, answers, state, round, has_progress: true, key }
    }
}

/// The owned copy of a request, for repeating the call.
pub(super) struct Asking {
    pub(super) tool: Tool,
    arguments: Value,
    answers: Vec<(String, Answer)>,
    state: Option<String>,
    pub(super) round: u32,
    has_progress: bool,
    key: Option<String>,
}

impl From<ToolRequest<'_>> for Asking {
    fn from(request: ToolRequest<'_>) -> Self {
        let ToolRequest { tool, arguments, answers, state, round, has_progress, key } = request;
        Self { tool: tool.clone(), arguments, answers, state, round, has_progress, key }
    }
}

impl Asking {
    /// The request. If `is_modern`, arguments are also sent in headers if the tool requires this.
    ///
    /// # Errors
    ///
    /// If the tool cannot be called, or after too many rounds of questions.
    pub(super) fn ask(&self, client: &Client, is_modern: bool) -> Result<Ask, McpError> {
        if self.round > MAX_ROUNDS {
            let reason = format!("the server has asked {MAX_ROUNDS} times without a result");
            return Err(McpError::Unexpected(reason));
        }
        let mut params = Map::new();
        put(&mut params, "name", json!(self.tool.name));
        if !self.arguments.is_null() {
            put(&mut params, "arguments", self.arguments.clone());
        }
        let mut headers = Vec::new();
        if is_modern {
            if !self.answers.is_empty() {
                put(&mut params, "inputResponses", responses(&self.answers));
            }
            params.extend(self.state.iter().map(|state| ("requestState".to_owned(), json!(state))));
            let wanted = param_headers(&self.tool.input_schema).map_err(|reason| {
                McpError::Unexpected(format!("the tool cannot be called: {reason}"))
            })?;
            headers.extend(wanted.iter().filter_map(|header| header.of(&self.arguments)));
        }
        headers.extend(self.key.iter().map(|key| ("Idempotency-Key".to_owned(), key.clone())));
        Ok(Ask {
            name: Some(self.tool.name.clone()),
            headers,
            has_progress: self.has_progress,
            takes_questions: true,
            // A server may send nothing until its tool has run, so only the time limit of the call ends the wait.
            timeout_ms: client
                .settings()
                .call_timeout_ms
                .saturating_add(client.settings().timeout_ms),
            ..client.plain("tools/call", params)
        })
    }

    /// Changes the request to that of the next round, with this state and without answers.
    pub(super) fn goes_on(&mut self, state: Option<String>) {
        self.round += 1;
        self.answers.clear();
        self.state = state;
    }
}

/// The answers to questions, in the form of a request.
pub(super) fn responses(answers: &[(String, Answer)]) -> Value {
    answers
        .iter()
        .map(|(key, answer)| (key.clone(), answer.to_json()))
        .collect::<Map<_, _>>()
        .into()
}

/// The largest number of rounds of a call, in which the server answers by questions or by a request to call again.
pub const MAX_ROUNDS: u32 = 10;
