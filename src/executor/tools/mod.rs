//! The executor `tools`: each message calls one or more tools.
//!
//! A data part `{"tool": "<name>", "arguments": {…}}` names the tool; a message may contain several such parts, which
//! are called in order. A plain text is passed to the tool that accepts a text.

mod asked;
mod mcp;
mod offer;
mod telling;

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::call::desk::Taken;
use super::call::{CallInTurn, is_for, shown};
use super::{AgentExecutor, Events, ExecutorError, StepStart, Turn};
use crate::task::Recovery;
use a2a::model::{Artifact, Metadata, Part};
use a2a_agents::tool::{Tool, ToolError};
use a2a_agents::{CheckedAgent, Misfit, ToolsTable};
use asked::{Asked, AskedCall, Understanding};
pub(super) use mcp::McpOffer;
pub(super) use offer::Offer;

/// Calls the tools that messages name. Each result is an artifact `<tool>-result`.
pub(super) struct ToolsExecutor {
    offer: Offer,
    mcp: Option<McpOffer>,
    /// True if the client is asked for required arguments that are missing.
    asks_missing: bool,
}

/// How a run continues after a call.
enum Flow {
    /// The run continues with the next call.
    GoesOn,
    /// The task has ended or waits for input, so the run makes no further call.
    Over,
}

/// Makes the executor of an agent of kind `tools`.
pub(super) fn make(
    agent: &CheckedAgent,
    registered: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    let ToolsTable { names, ask_missing, mcp } = ToolsTable::of(&agent.executor.table)?;
    let offer = Offer::of(agent, "names", &names, registered)?;
    let mcp = McpOffer::of(mcp);
    Ok(Rc::new(ToolsExecutor { offer, mcp, asks_missing: ask_missing }))
}

impl ToolsExecutor {
    /// The decision for the message of a turn, with the tools that its caller may use.
    fn asked<'a>(&self, turn: &Turn, tools: &'a [Rc<dyn Tool>]) -> Asked<'a, Rc<dyn Tool>> {
        let understanding = Understanding { tools, asks_missing: self.asks_missing };
        // Only a task that has asked a question has earlier messages.
        if turn.number == 1 {
            return understanding.of(std::slice::from_ref(&turn.message));
        }
        let mut messages = turn.history();
        messages.retain(|message| message.role == a2a::model::Role::User);
        // A run that is repeated must not read messages that arrived later.
        messages.truncate(turn.number);
        understanding.of(&messages)
    }
}

#[async_trait(?Send)]
impl AgentExecutor for ToolsExecutor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        if let Some(mcp) = &self.mcp {
            return Box::pin(mcp.execute(self, turn, events)).await;
        }
        let tools = self.offer.own(&turn.caller);
        let calls = match self.asked(turn, &tools) {
            Asked::Calls(calls) => calls,
            Asked::Said(state, parts) => {
                let parts = parts.into_iter().filter(|part| is_for(part, turn));
                return events.status_with(state, parts.collect());
            }
        };
        events.working(None)?;
        let count = calls.len();
        for (index, AskedCall { tool, arguments, .. }) in calls.into_iter().enumerate() {
            let position = index + 1;
            let nth = match begin_call(turn, position, count)? {
                StepStart::New(nth) => nth,
                StepStart::Done(_) => {
                    said_again(events, tool.name(), position)?;
                    continue;
                }
            };
            turn.run_task.note_input(&position.to_string(), nth, &|| arguments.clone().into());
            match call_own(turn, events, tool.as_ref(), arguments, position).await? {
                Flow::GoesOn => end_call(turn, position, count, nth, None)?,
                Flow::Over => return Ok(()),
            }
        }
        events.complete(None)
    }

    async fn cancel(&self, turn: &Turn) {
        if let Some(mcp) = &self.mcp {
            mcp.cancel(turn).await;
        }
    }

    /// The `cancel` hook must also cancel the task of an MCP server that a parked run follows.
    fn ensures_cancel(&self) -> bool {
        self.mcp.is_some()
    }

    /// A finished call is not repeated, and neither is a finished step of an interrupted call.
    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }

    fn parks(&self) -> bool {
        self.mcp.is_some()
    }

    fn input_schema(&self, skill: &str) -> Option<&Value> {
        self.offer.schema(skill)
    }
}

/// Calls a tool of this Worker.
async fn call_own(
    turn: &Turn,
    events: &Events,
    tool: &dyn Tool,
    arguments: Map<String, Value>,
    position: usize,
) -> Result<Flow, ExecutorError> {
    let call = CallInTurn::new(turn, events, &position.to_string());
    match call.of(tool, arguments).await {
        Ok(output) => {
            let parts = output.into_parts().into_iter();
            let parts = parts.map(|part| shown(part, turn)).collect();
            events.artifact(artifact(tool.name(), position, parts))?;
            Ok(Flow::GoesOn)
        }
        Err(error) => {
            events.artifact(failed(tool.name(), position, &error))?;
            events.fail(&telling::failure(tool.name(), &error))?;
            Ok(Flow::Over)
        }
    }
}

/// Emits again the artifact of a call that an earlier attempt has finished. The task already has this artifact, so nothing
/// is added.
fn said_again(events: &Events, tool: &str, position: usize) -> Result<(), ExecutorError> {
    events.artifact(artifact(tool, position, vec![Part::text("")]))
}

/// The stored outcome of a call, whose result is in its artifact. Only an agent with MCP servers stores the number of messages
/// that the call has taken.
type Done = Option<Taken>;

/// Stores that a call is done. For the last call this is not needed: the end of the task shows it.
fn end_call(
    turn: &Turn,
    position: usize,
    count: usize,
    nth: u32,
    outcome: Done,
) -> Result<(), ExecutorError> {
    if position < count { turn.end_step(&position.to_string(), nth, Ok(&outcome)) } else { Ok(()) }
}

/// Begins one of several calls. Each call is a step, and its result is in its artifact; the events before the call are
/// stored at this point. A single call and the first of several calls need no step, because no call precedes them:
/// neither costs a row.
fn begin_call(
    turn: &Turn,
    position: usize,
    count: usize,
) -> Result<StepStart<Done>, ExecutorError> {
    if count == 1 || (position == 1 && !turn.resumes) {
        Ok(StepStart::New(1))
    } else {
        turn.begin_step(&position.to_string())
    }
}

/// The artifact of a call.
fn artifact(tool: &str, position: usize, parts: Vec<Part>) -> Artifact {
    let name = format!("{tool}-result");
    let number = if position == 1 { String::new() } else { format!("-{position}") };
    Artifact {
        artifact_id: format!("{name}{number}"),
        name: Some(name),
        description: None,
        parts,
        metadata: None,
        extensions: Vec::new(),
    }
}

/// The artifact of a call that failed.
fn failed(tool: &str, position: usize, error: &ToolError) -> Artifact {
    let fault = json!(error.fault().name());
    let members = [("isError", json!(true)), ("fault", fault)];
    let members: Map<String, Value> =
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let parts = vec![Part::text(error.text())];
    Artifact { metadata: Some(Metadata::from(members)), ..artifact(tool, position, parts) }
}
