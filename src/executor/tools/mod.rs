//! The executor `tools`: a message calls a local tool.
//!
//! A data part `{"tool": "<name>", "arguments": {…}}` names the tool; a message may hold several,
//! which are called in order. Without such a part the first tool gets `{"text": "<the text>"}`.

mod call;

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{AgentExecutor, Events, ExecutorError, Turn};
use crate::task::Recovery;
use a2a::model::{Artifact, Json, Message, Part, PartContent};
use a2a_agents::tool::{Tool, call_checked, text_argument};
use call::CallInTurn;

/// Calls local tools. Each result is an artifact `<tool>-result`.
pub(super) struct ToolsExecutor {
    tools: Vec<Rc<dyn Tool>>,
}

impl ToolsExecutor {
    pub(super) fn new(tools: Vec<Rc<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// The calls that a message asks for, or why it cannot be understood.
    fn calls_of(&self, message: &Message) -> Result<Vec<(&dyn Tool, Json)>, String> {
        let mut calls = Vec::new();
        for part in &message.parts {
            let PartContent::Data(data) = &part.content else { continue };
            let Value::Object(mut data) = data.value() else { continue };
            let Some(name) = data.get("tool") else { continue };
            let tool = self.tool(name)?;
            calls.push((tool, Json::from(&arguments_of(&mut data)?)));
        }
        if !calls.is_empty() {
            return Ok(calls);
        }
        let has_text = message.parts.iter().any(|part| part.as_text().is_some());
        let tools: Vec<&dyn Tool> = self.tools.iter().map(AsRef::as_ref).collect();
        match text_argument(&tools, false).filter(|_| has_text) {
            Some((tool, argument)) => {
                Ok(vec![(tool, Json::from(&json!({argument: message.text()})))])
            }
            None => Err(format!(
                "say what to call: a data part {{\"tool\": \"<name>\", \"arguments\": {{…}}}}; the \
                 tools are {}",
                self.names()
            )),
        }
    }

    fn tool(&self, name: &Value) -> Result<&dyn Tool, String> {
        let known = self.tools.iter().find(|tool| name.as_str() == Some(tool.name()));
        match known {
            Some(tool) => Ok(tool.as_ref()),
            None => Err(format!("there is no tool {name}; the tools are {}", self.names())),
        }
    }

    fn names(&self) -> String {
        self.tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ")
    }
}

#[async_trait(?Send)]
impl AgentExecutor for ToolsExecutor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let calls = match self.calls_of(&turn.message) {
            Ok(calls) => calls,
            Err(reason) => return events.reject(&reason),
        };
        events.working(None)?;
        for (index, (tool, arguments)) in calls.into_iter().enumerate() {
            let position = index + 1;
            let call = CallInTurn { turn, events, position };
            match call_checked(tool, arguments.value(), &call).await {
                Ok(output) => {
                    let number = if index == 0 { String::new() } else { format!("-{position}") };
                    let id = format!("{}-result", tool.name());
                    let parts = output.into_parts().into_iter();
                    events.artifact(Artifact {
                        artifact_id: format!("{id}{number}"),
                        name: Some(id),
                        description: None,
                        parts: parts.map(|part| shown(part, turn)).collect(),
                        metadata: None,
                        extensions: Vec::new(),
                    })?;
                }
                Err(error) => return events.fail(error.text()),
            }
        }
        events.complete(None)
    }

    /// Local tools answer at once, so that an interrupted call is simply made again.
    fn recovery(&self) -> Recovery {
        Recovery::Restart
    }
}

/// A part as the client can take it: data as JSON text for a client that takes text but no JSON.
fn shown(part: Part, turn: &Turn) -> Part {
    let takes_text_alone = || turn.accepts("text/plain") && !turn.accepts("application/json");
    match &part.content {
        PartContent::Data(data) if takes_text_alone() => {
            Part { content: PartContent::Text(data.as_str().to_owned().into()), ..part }
        }
        _ => part,
    }
}

fn arguments_of(data: &mut Map<String, Value>) -> Result<Value, String> {
    match data.remove("arguments") {
        None | Some(Value::Null) => Ok(json!({})),
        Some(arguments @ Value::Object(_)) => Ok(arguments),
        Some(_) => Err("`arguments` must be an object".to_owned()),
    }
}
