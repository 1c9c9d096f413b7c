//! Tools: functions with a name, a description and a JSON schema, that agents offer as skills.
//!
//! This module knows nothing of tasks or of the platform; a build script uses it too, to check agent
//! files against the tools that exist.

mod call;
mod error;
mod output;
pub mod prelude;
mod schema;
mod step;
pub mod testing;

use std::marker::PhantomData;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use a2a::model::AgentSkill;

pub use call::{Counters, ToolCall};
pub use error::{Fault, ToolError};
pub use output::{IntoAnswer, ToolOutput};
pub use schema::{check_schema, validate};
pub use step::{Retry, StepStart};

/// Something that can be called with JSON arguments.
#[async_trait(?Send)]
pub trait Tool {
    /// Unique among the tools; lower-case words joined by `_`, as `add_numbers`.
    fn name(&self) -> &str;

    /// What it does, in one or two sentences for models and people.
    fn description(&self) -> &str;

    /// The JSON schema of its arguments, always of type `object`.
    fn input_schema(&self) -> &Value;

    /// The names of the secrets and variables that it reads, as far as it knows them: scripts name those that a
    /// deployment lacks.
    fn needs(&self) -> Vec<String> {
        Vec::new()
    }

    /// Calls it with arguments that fit the schema.
    ///
    /// # Errors
    ///
    /// A reason that the caller may read, and who is at fault.
    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<ToolOutput, ToolError>;
}

/// A tool that is one asynchronous function.
///
/// ```
/// use a2a_agents::tool::{FunctionTool, Tool, ToolCall, ToolError};
/// use serde::Deserialize;
/// use serde_json::{Value, json};
///
/// #[derive(Deserialize)]
/// struct Arguments {
///     text: String,
/// }
///
/// pub fn tool() -> impl Tool {
///     let schema = json!({
///         "type": "object",
///         "properties": {"text": {"type": "string", "description": "What to give back."}},
///         "required": ["text"],
///         "additionalProperties": false,
///     });
///     FunctionTool::new("echo", "Gives back the text it gets.", schema, echo)
/// }
///
/// async fn echo(arguments: Arguments, _: &dyn ToolCall) -> Result<Value, ToolError> {
///     Ok(Value::String(arguments.text))
/// }
///
/// let answer = a2a_agents::tool::testing::call(&tool(), json!({"text": "hi"}));
/// assert_eq!(answer, Ok(json!("hi").into()));
/// ```
pub struct FunctionTool<Arguments, Output, Function> {
    name: &'static str,
    description: &'static str,
    input_schema: Value,
    function: Function,
    types: PhantomData<fn(Arguments) -> Output>,
}

impl<Arguments, Output, Function> FunctionTool<Arguments, Output, Function>
where
    Function: AsyncFn(Arguments, &dyn ToolCall) -> Result<Output, ToolError>,
{
    /// A tool from its function. The arguments are checked against `input_schema` and then read into
    /// the type that the function takes.
    pub fn new(
        name: &'static str,
        description: &'static str,
        input_schema: Value,
        function: Function,
    ) -> Self {
        Self { name, description, input_schema, function, types: PhantomData }
    }
}

#[async_trait(?Send)]
impl<Arguments, Output, Function> Tool for FunctionTool<Arguments, Output, Function>
where
    Arguments: DeserializeOwned,
    Output: Into<ToolOutput>,
    Function: AsyncFn(Arguments, &dyn ToolCall) -> Result<Output, ToolError>,
{
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<ToolOutput, ToolError> {
        let arguments = serde_json::from_value(arguments)
            .map_err(|error| ToolError::Arguments(format!("the arguments do not fit: {error}")))?;
        (self.function)(arguments, call).await.map(Into::into)
    }
}

/// Calls a tool after checking the arguments against its schema.
///
/// # Errors
///
/// Everything that is wrong with the arguments, each with its path, or the tool's own reason.
pub async fn call_checked(
    tool: &dyn Tool,
    arguments: Value,
    call: &dyn ToolCall,
) -> Result<ToolOutput, ToolError> {
    let problems = validate(tool.input_schema(), &arguments);
    if !problems.is_empty() {
        return Err(ToolError::Arguments(format!("{}: {}", tool.name(), problems.join("; "))));
    }
    tool.call(arguments, call).await
}

/// The skill that a tool is to the clients of an agent: `add_numbers` becomes "Add Numbers", tagged
/// with its words.
pub fn skill_of(tool: &dyn Tool) -> AgentSkill {
    let words: Vec<&str> = tool.name().split('_').filter(|word| !word.is_empty()).collect();
    let title: Vec<String> = words.iter().map(|word| capitalized(word)).collect();
    let mut tags: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    tags.push("tool".to_owned());
    tags.dedup();
    AgentSkill {
        id: tool.name().to_owned(),
        name: title.join(" "),
        description: tool.description().to_owned(),
        tags,
        examples: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
    }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_becomes_a_skill_with_a_readable_name_and_tags() {
        let tool = FunctionTool::new(
            "find_seats",
            "Finds.",
            Value::Null,
            async |_: Value, _: &dyn ToolCall| Ok(Value::Null),
        );
        let skill = skill_of(&tool);
        assert_eq!(skill.id, "find_seats");
        assert_eq!(skill.name, "Find Seats");
        assert_eq!(skill.tags, ["find", "seats", "tool"]);
    }
}
