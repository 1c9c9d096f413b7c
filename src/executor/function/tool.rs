//! Tools that are functions.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::Value;

use super::described::DescribedTool;
use super::document::call_document;
use super::run::{OpenRun, Role};
use super::runs::Runs;
use super::thrown::Thrown;
use crate::executor::call::OwnedCall;
use a2a::model::Part;
use a2a::model::decode::{Decode, Fields, read_json};
use a2a_agents::tool::{Tool, ToolCall, ToolError, ToolOutput};

/// A tool of the entry module.
pub(super) struct FunctionTool {
    described: DescribedTool,
    runs: Rc<Runs>,
}

/// The result of a tool.
struct Output(Vec<Part>);

impl Decode for Output {
    fn decode(fields: &mut Fields) -> Option<Self> {
        fields.required_list("parts").map(Self)
    }
}

impl FunctionTool {
    pub(super) fn new(described: DescribedTool, runs: Rc<Runs>) -> Self {
        Self { described, runs }
    }

    pub(super) fn described(&self) -> &DescribedTool {
        &self.described
    }
}

#[async_trait(?Send)]
impl Tool for FunctionTool {
    fn name(&self) -> &str {
        &self.described.name
    }

    fn description(&self) -> &str {
        &self.described.description
    }

    fn input_schema(&self) -> &Value {
        &self.described.input_schema
    }

    fn needs(&self) -> Vec<String> {
        self.described.needs.clone()
    }

    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<ToolOutput, ToolError> {
        let Self { described, runs } = self;
        let call = call.hosted().and_then(|call| call.downcast::<OwnedCall>().ok());
        let call = call.ok_or_else(|| {
            ToolError::Tool(format!("the tool {} can be called only in a Worker", described.name))
        })?;
        for name in &described.needs {
            // Its value, a secret or a variable, is kept out of all that the call says.
            call.in_turn().value(name)?;
        }
        let document = call_document(&call, runs.is_development);
        let OwnedCall { turn, events, .. } = call.as_ref();
        let run = OpenRun::new(turn, events, Role::Call(call.clone()));
        let run = runs.open(run);
        let (name, number) = (&described.name, run.number());
        let end = runs.functions.call_tool(name, number, &arguments.to_string(), &document);
        let end = run.ended(end).await;
        if end.starts_with(r#"{"failed""#) {
            let function = format!("the tool {name}");
            return Err(Thrown::read(&end).tool_error(turn, &function, runs.is_development));
        }
        let output = read_json::<Output>(&end).map_err(|error| {
            ToolError::Tool(format!("the result of {name} cannot be sent: {error}"))
        })?;
        Ok(output.0.into())
    }
}
