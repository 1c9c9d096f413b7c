//! The executor `tools`: a message calls a local tool.
//!
//! A data part `{"tool": "<name>", "arguments": {…}}` names the tool; a message may hold several,
//! which are called in order. Without such a part the first tool gets `{"text": "<the text>"}`.

use std::rc::Rc;

use async_trait::async_trait;
use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value, json};

use super::{AgentExecutor, Events, ExecutorError, Turn};
use crate::port::{Http, HttpAnswer, HttpRequest, Outside};
use crate::task::Recovery;
use a2a::model::{Artifact, Json, Message, Part, PartContent, Secret, UnixMillis};
use a2a_agents::tool::{Counters, Tool, ToolCall, ToolError, call_checked};

/// Calls local tools. Each result is an artifact `<tool>-result`.
pub(super) struct ToolsExecutor {
    tools: Vec<Rc<dyn Tool>>,
    outside: Outside,
}

impl ToolsExecutor {
    pub(super) fn new(tools: Vec<Rc<dyn Tool>>, outside: Outside) -> Self {
        Self { tools, outside }
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
        match self.tools.first() {
            Some(tool) if has_text => {
                Ok(vec![(tool.as_ref(), Json::from(&json!({"text": message.text()})))])
            }
            Some(_) | None => Err(format!(
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
        let call = CallInTurn { turn, events, outside: &self.outside };
        for (index, (tool, arguments)) in calls.into_iter().enumerate() {
            match call_checked(tool, arguments.value(), &call).await {
                Ok(result) => {
                    let number = if index == 0 { String::new() } else { format!("-{}", index + 1) };
                    let mut artifact =
                        Artifact::new(format!("{}-result", tool.name()), shown(result, turn));
                    artifact.artifact_id.push_str(&number);
                    events.artifact(artifact)?;
                }
                Err(error) => return events.fail(&error.0),
            }
        }
        events.complete(None)
    }

    /// Local tools answer at once, so that an interrupted call is simply made again.
    fn recovery(&self) -> Recovery {
        Recovery::Restart
    }
}

/// A call that is part of a turn: its progress is that of the task.
struct CallInTurn<'a> {
    turn: &'a Turn,
    events: &'a Events,
    outside: &'a Outside,
}

impl ToolCall for CallInTurn<'_> {
    fn now(&self) -> UnixMillis {
        self.turn.now()
    }

    fn caller_id(&self) -> &str {
        &self.turn.caller.id
    }

    fn permissions(&self) -> &[String] {
        &self.turn.caller.permissions
    }

    fn counters(&self) -> &dyn Counters {
        self.turn.host.counters()
    }

    fn progress(&self, text: &str) -> Result<(), ToolError> {
        self.events.working(Some(text)).map_err(|error| ToolError(error.0))
    }

    fn is_canceled(&self) -> bool {
        self.turn.is_canceled()
    }

    fn canceled(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.turn.canceled())
    }

    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'_, Result<HttpAnswer<String>, ToolError>> {
        Box::pin(async { self.turn.fetch(request).await.map_err(|error| ToolError(error.0)) })
    }

    fn http(&self) -> &dyn Http {
        self.outside.http.as_ref()
    }

    fn secret(&self, name: &str) -> Option<Secret> {
        self.outside.secrets.secret(name)
    }
}

/// A result as the client can take it: text as text, anything else as data, or as JSON text for a
/// client that takes text but no JSON.
fn shown(result: Value, turn: &Turn) -> Part {
    match result {
        Value::String(text) => Part::text(text),
        data if turn.accepts("text/plain") && !turn.accepts("application/json") => {
            Part::text(data.to_string())
        }
        data => Part::data(data),
    }
}

fn arguments_of(data: &mut Map<String, Value>) -> Result<Value, String> {
    match data.remove("arguments") {
        None | Some(Value::Null) => Ok(json!({})),
        Some(arguments @ Value::Object(_)) => Ok(arguments),
        Some(_) => Err("`arguments` must be an object".to_owned()),
    }
}
