//! What is asked of a tool, and the request that it becomes.

use serde_json::{Map, Value, json};

use super::open::{Ask, put};
use super::params::param_headers;
use super::{Client, McpError};
use crate::model::{Answer, Tool};

/// A call of a tool. [`new`](Self::new) makes one of the usual kind.
#[derive(Clone, Debug)]
pub struct ToolRequest<'a> {
    /// The tool, as its server lists it.
    pub tool: &'a Tool,
    /// What it is given: an object, as a rule. It is passed on as it is.
    pub arguments: Value,
    /// The answers to the questions of the round before ([`CallEvent::Asked`](super::CallEvent::Asked)), each with the key of its
    /// question: all of them.
    pub answers: Vec<(String, Answer)>,
    /// What came with the questions, byte for byte.
    pub state: Option<String>,
    /// The number that came with the questions; 0 for a call that answers none.
    pub round: u32,
    /// Whether progress is to be told.
    pub has_progress: bool,
    /// What tells this call from others in the header `Idempotency-Key`, so that a server which knows it carries it out once
    /// however often it is made. Visible ASCII.
    pub key: Option<String>,
}

impl<'a> ToolRequest<'a> {
    /// A call of a tool with these arguments, with progress.
    pub fn new(tool: &'a Tool, arguments: Value) -> Self {
        let (answers, state, round, key) = (Vec::new(), None, 0, None);
        Self { tool, arguments, answers, state, round, has_progress: true, key }
    }
}

/// What a call holds of its request, to make it again.
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
    /// The request. `is_modern`: arguments go along in headers where the tool wants it.
    ///
    /// # Errors
    ///
    /// If the tool cannot be called, or too many rounds of questions have passed.
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
            // A server may be silent until its tool has run: the time of the call ends it.
            timeout_ms: client
                .settings()
                .call_timeout_ms
                .saturating_add(client.settings().timeout_ms),
            ..client.plain("tools/call", params)
        })
    }

    /// Makes it the call of the next round, which answers nothing but says this state.
    pub(super) fn goes_on(&mut self, state: Option<String>) {
        self.round += 1;
        self.answers.clear();
        self.state = state;
    }
}

/// The answers to questions as they are sent.
pub(super) fn responses(answers: &[(String, Answer)]) -> Value {
    answers
        .iter()
        .map(|(key, answer)| (key.clone(), answer.to_json()))
        .collect::<Map<_, _>>()
        .into()
}

/// How often a server may answer a call by questions, or by the wish to be called again.
pub const MAX_ROUNDS: u32 = 10;
