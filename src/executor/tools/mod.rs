//! The executor `tools`: a message calls tools.
//!
//! A data part `{"tool": "<name>", "arguments": {…}}` names the tool; a message may hold several, which are called in
//! order. A plain text goes to the tool that takes one.

mod asked;
mod mcp;
mod offer;
mod telling;

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::call::{CallInTurn, is_for, shown};
use super::{AgentExecutor, Events, ExecutorError, StepStart, Turn};
use crate::task::Recovery;
use a2a::model::{Artifact, Json, Metadata, Part};
use a2a_agents::tool::{Tool, ToolError, call_checked};
use a2a_agents::{EmbeddedAgent, Misfit, ToolsTable};
use asked::{Asked, AskedCall, Understanding};
pub(super) use mcp::McpOffer;
use offer::Callable;
pub(super) use offer::Offer;

/// Calls tools. Each result is an artifact `<tool>-result`.
pub(super) struct ToolsExecutor {
    offer: Offer,
    mcp: Option<McpOffer>,
    /// Whether required arguments that are missing are asked for.
    asks_missing: bool,
}

/// Whether a run goes on behind a call.
enum Flow {
    /// With the next one.
    GoesOn,
    /// All is said.
    Over,
}

/// Makes the executor of an agent of kind `tools`.
pub(super) fn make(
    agent: &EmbeddedAgent,
    registered: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    let ToolsTable { names, ask_missing, mcp } = agent.executor.table.read()?;
    let offer = Offer::of(agent, &names, registered)?;
    let mcp = McpOffer::of(mcp);
    Ok(Rc::new(ToolsExecutor { offer, mcp, asks_missing: ask_missing }))
}

impl ToolsExecutor {
    /// What a turn asks for, of the tools that there are to its caller.
    fn asked<'a>(&self, turn: &Turn, tools: &'a [Callable]) -> Asked<'a> {
        let understanding = Understanding { tools, asks_missing: self.asks_missing };
        // Only a task that has asked back has earlier messages.
        if turn.number == 1 {
            return understanding.of(std::slice::from_ref(&turn.message));
        }
        let mut messages = turn.history();
        messages.retain(|message| message.role == a2a::model::Role::User);
        // A run that is done again must not look at what came later.
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
        let tools = self.offer.to(&turn.caller);
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
            // Tools of servers are offered by an agent that has some.
            let Callable::Own(tool) = tool else { continue };
            let position = index + 1;
            let nth = match begin_call(turn, position, count)? {
                StepStart::New(nth) => nth,
                StepStart::Done(_) => {
                    said_again(events, tool.name(), position)?;
                    continue;
                }
            };
            match call_own(turn, events, tool.as_ref(), arguments, position).await? {
                Flow::GoesOn => end_call(turn, position, count, nth, &Value::Null)?,
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

    /// A task of an MCP server that is followed by a run that is parked is canceled, too.
    fn ensures_cancel(&self) -> bool {
        self.mcp.is_some()
    }

    /// A call that is done is not made again, nor is a step of the one that was interrupted.
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
    match call_checked(tool, arguments.into(), &call).await {
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

/// Says the artifact of a call again that an earlier attempt has made: it stands in the task, so this gives nothing twice.
fn said_again(events: &Events, tool: &str, position: usize) -> Result<(), ExecutorError> {
    events.artifact(artifact(tool, position, vec![Part::text("")]))
}

/// A call is done. The last one is so when the task has ended.
fn end_call(
    turn: &Turn,
    position: usize,
    count: usize,
    nth: u32,
    outcome: &Value,
) -> Result<(), ExecutorError> {
    if position < count {
        turn.run_task.end_step(&position.to_string(), nth, Ok(Json::from(outcome)))
    } else {
        Ok(())
    }
}

/// Begins one of several calls, each a step whose outcome is in its artifact. What came before it is stored then. A
/// single call needs none, nor does the first one, before which nothing was done: they cost no row.
fn begin_call(turn: &Turn, position: usize, count: usize) -> Result<StepStart, ExecutorError> {
    if count == 1 || (position == 1 && !turn.resumes) {
        Ok(StepStart::New(1))
    } else {
        turn.run_task.begin_step(&position.to_string())
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
