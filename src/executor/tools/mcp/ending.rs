//! The result of an MCP tool call in an agent of kind `tools`: an artifact, a question, or a failed task.

use serde_json::{Map, Value, json};

use super::super::{Flow, artifact};
use super::plan::Plan;
use super::{ASKED, Run};
use crate::executor::call::desk::{Desk, say};
use crate::executor::call::mcp::asked::{Asked, Way};
use crate::executor::call::mcp::{Answers, End, McpTool, ServerCall, content, failure, unknown};
use crate::executor::call::shown;
use crate::executor::{ExecutorError, StepStart};
use ::mcp::client::McpError;
use ::mcp::model::Question;
use a2a::model::{Artifact, Metadata, Part};
use a2a_agents::tool::Fault;

/// A call of an MCP tool that a message requests.
pub(super) struct McpCall<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) plan: &'a Plan,
    pub(super) tool: &'a McpTool,
    /// The position of the call in its message, from 1.
    pub(super) position: usize,
    /// True if an earlier attempt may have made this call.
    pub(super) is_doubtful: bool,
}

impl McpCall<'_> {
    /// Makes the call, or continues it, and emits its result.
    ///
    /// # Errors
    ///
    /// The reason why the run fails.
    pub(super) async fn make(
        &self,
        desk: &Desk<'_>,
        arguments: Map<String, Value>,
        answers: Answers,
    ) -> Result<Flow, ExecutorError> {
        let (turn, events) = (self.run.turn, self.run.events);
        if self.is_doubtful
            // The questions of a call are stored before they are shown.
            && let Some(asked) = self.was_asked()?
        {
            say(turn, events, &asked.questions, None)?;
            return Ok(Flow::Over);
        }
        let name = &self.tool.server;
        let server = turn.mcp_server(name)?;
        let known = self.run.known(name, &server, false).await.ok();
        let call = ServerCall {
            turn,
            events,
            tool: self.tool,
            key: &self.position.to_string(),
            is_doubtful: self.is_doubtful,
            desk,
            parked_ms: Some(&self.run.parked_ms),
        };
        let end = Box::pin(call.make(server, known, arguments, answers)).await?;
        self.end(end)
    }

    /// Emits the result of the call.
    fn end(&self, end: End) -> Result<Flow, ExecutorError> {
        let McpTool { id, server, .. } = self.tool;
        match end {
            End::Finished(result) if result.is_error => {
                let text: String = result.text().chars().take(MAX_REASON_CHARS).collect();
                let reason = match text.trim() {
                    "" => format!("{id} failed, and does not say why"),
                    text => format!("{id} failed: {text}"),
                };
                self.fail(&reason, content::parts_of(result), Fault::Tool, None)
            }
            End::Finished(result) => {
                let parts = content::parts_of(result).into_iter();
                let parts = parts.map(|part| shown(part, self.run.turn)).collect();
                let kept = self.run.events.artifact(artifact(id, self.position, parts));
                let unkept = |error: ExecutorError| {
                    ExecutorError(format!("{id} gave a result that cannot be kept: {error}"))
                };
                kept.map(|()| Flow::GoesOn).map_err(unkept)
            }
            End::Asked(questions, way) => {
                self.ask(&questions, way)?;
                Ok(Flow::Over)
            }
            End::Failed(error) => {
                let code = match &error {
                    McpError::Rpc { error, .. } => Some(error.code),
                    _ => None,
                };
                let reason = failure(server, &error);
                let parts = vec![Part::text(reason.clone())];
                self.fail(&format!("{id} failed: {reason}"), parts, Fault::Upstream, code)
            }
            End::Unknown => {
                let reason = unknown(self.tool);
                self.fail(&reason, vec![Part::text(reason.clone())], Fault::Upstream, None)
            }
            End::Canceled => Ok(Flow::Over),
        }
    }

    /// Fails the task because the call has failed.
    fn fail(
        &self,
        reason: &str,
        parts: Vec<Part>,
        fault: Fault,
        code: Option<i64>,
    ) -> Result<Flow, ExecutorError> {
        let mut members = Map::new();
        members.insert("isError".to_owned(), json!(true));
        members.insert("fault".to_owned(), json!(fault.name()));
        members.extend(code.map(|code| ("code".to_owned(), json!(code))));
        let parts = parts.into_iter().map(|part| shown(part, self.run.turn)).collect();
        let metadata = Some(Metadata::from(members));
        let failed = artifact(&self.tool.id, self.position, parts);
        self.run.events.artifact(Artifact { metadata, ..failed })?;
        self.run.events.fail(reason)?;
        Ok(Flow::Over)
    }

    /// Asks the client. The data that is needed to continue is stored before the question is shown.
    fn ask(&self, questions: &[Question], way: Way) -> Result<(), ExecutorError> {
        let asked = Asked { position: self.position, questions: questions.to_vec(), way };
        self.run.keep_asked(self.plan, asked)?;
        say(self.run.turn, self.run.events, questions, None)
    }

    /// The questions of this call that an earlier attempt has stored, if they were not asked on an open connection.
    fn was_asked(&self) -> Result<Option<Asked>, ExecutorError> {
        loop {
            match self.run.turn.begin_step::<Plan>(ASKED)? {
                StepStart::New(nth) => {
                    self.run.asking.set(Some(nth));
                    return Ok(None);
                }
                StepStart::Done(plan) => {
                    let asked = plan.map_err(ExecutorError)?.answers;
                    let is_this =
                        |asked: &Asked| asked.position == self.position && asked.way != Way::Held;
                    if let Some(asked) = asked.filter(|asked| is_this(asked)) {
                        return Ok(Some(*asked));
                    }
                }
            }
        }
    }
}

/// The largest number of characters of a failure's reason in the status. The artifact contains the whole reason.
const MAX_REASON_CHARS: usize = 4_000;
