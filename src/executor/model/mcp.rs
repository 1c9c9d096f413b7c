//! Tools of MCP servers as callables of a model.

use serde_json::{Value, json};

use super::callable::{Callable, ModelCall, Question, Said, Saying};
use super::result;
use crate::executor::ExecutorError;
use crate::executor::call::mcp::asked::Asked;
use crate::executor::call::mcp::content::parts_of;
use crate::executor::call::mcp::{Answers, End, McpTool, ServerCall, failure, unknown};
use crate::executor::call::question;
use ::mcp::model::{CallResult, Tool};
use a2a::model::decode::decode;
use chat::ToolSpec;

/// A tool of an MCP server.
pub(super) struct ServerTool {
    pub(super) tool: McpTool,
    /// The largest size of a result for the model, in bytes.
    pub(super) max_bytes: usize,
}

impl Callable for ServerTool {
    fn spec(&self) -> ToolSpec {
        let Tool { description, input_schema, .. } = &self.tool.tool;
        let is_object = input_schema.get("type").and_then(Value::as_str) == Some("object");
        let parameters = if is_object { input_schema.clone() } else { json!({"type": "object"}) };
        let description = description.as_deref().unwrap_or(&self.tool.description);
        let description = description.chars().take(MAX_DESCRIPTION_CHARS).collect();
        ToolSpec { name: self.tool.id.clone(), description, parameters }
    }

    fn call<'a>(&'a self, call: &'a ModelCall<'a>) -> Saying<'a> {
        Box::pin(self.make(call, Answers::default()))
    }

    fn answered<'a>(&'a self, call: &'a ModelCall<'a>, kept: &'a Value) -> Saying<'a> {
        Box::pin(async {
            let Ok(asked) = decode::<Asked>(kept.clone()) else {
                return Ok(Said::error("what the tool had asked cannot be read; call it again"));
            };
            match question::answers(&call.turn.message, &asked.questions) {
                Ok(answers) => self.make(call, Answers { asked: Some(asked), answers }).await,
                Err(unfit) => asks(asked, Some(&unfit)),
            }
        })
    }
}

impl ServerTool {
    /// Makes a call, or continues a call that has asked a question.
    async fn make(&self, call: &ModelCall<'_>, answers: Answers) -> Result<Said, ExecutorError> {
        let ModelCall { turn, events, key, arguments, is_doubtful, desk } = call;
        let server = match turn.mcp_server(&self.tool.server) {
            Ok(server) => server,
            Err(error) => return Ok(Said::error(error.0)),
        };
        let known = turn.run_outside.mcp_tools(&server, None).await.ok();
        let (tool, is_doubtful) = (&self.tool, *is_doubtful);
        let made = ServerCall { turn, events, tool, key, is_doubtful, desk, parked_ms: None };
        let end = Box::pin(made.make(server, known, arguments.clone(), answers)).await?;
        Ok(match end {
            End::Finished(result) => self.finished(call, result)?,
            End::Asked(questions, way) => asks(Asked { position: 1, questions, way }, None)?,
            End::Failed(error) => Said::error(failure(&tool.server, &error)),
            End::Unknown => Said::error(unknown(tool)),
            End::Canceled => Said::error("canceled"),
        })
    }

    fn finished(&self, call: &ModelCall<'_>, result: CallResult) -> Result<Said, ExecutorError> {
        let is_error = result.is_error;
        let told = result::told(call, &self.tool.tool.name, parts_of(result), self.max_bytes)?;
        Ok(match told {
            Said::Result(text) if is_error => Said::error(match text.trim() {
                "" => "the tool failed, and does not say why",
                text => text,
            }),
            told => told,
        })
    }
}

fn asks(asked: Asked, unfit: Option<&str>) -> Result<Said, ExecutorError> {
    let (state, parts) = question::said(&asked.questions, unfit);
    let kept = serde_json::to_value(asked).map_err(|error| ExecutorError(error.to_string()))?;
    Ok(Said::Asks(Box::new(Question { state, parts, kept })))
}

/// The largest number of characters of a tool's description for the model.
const MAX_DESCRIPTION_CHARS: usize = 4_000;
