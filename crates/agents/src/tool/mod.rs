//! Tools: functions with a name, a description and a JSON schema, that agents offer as skills.
//!
//! This module knows nothing of tasks or of the platform; a build script uses it too, to check agent
//! files against the tools that exist.

mod schema;
pub mod testing;

use std::fmt;
use std::marker::PhantomData;

use async_trait::async_trait;
use futures_util::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;

use a2a::http::{Http, HttpAnswer, HttpError, HttpRequest};
use a2a::model::{AgentSkill, Secret, UnixMillis};

pub use schema::{check_schema, validate};

/// Something that can be called with JSON arguments.
#[async_trait(?Send)]
pub trait Tool {
    /// Unique among the tools; lower-case words joined by `_`, as `add_numbers`.
    fn name(&self) -> &str;

    /// What it does, in one or two sentences for models and people.
    fn description(&self) -> &str;

    /// The JSON schema of its arguments, always of type `object`.
    fn input_schema(&self) -> &Value;

    /// Calls it with arguments that fit the schema. A string is shown as text, anything else as data.
    ///
    /// # Errors
    ///
    /// A reason that the caller may read.
    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<Value, ToolError>;
}

/// A call that a tool answers: who makes it, and what the tool may ask of the outside meanwhile.
pub trait ToolCall {
    /// The present instant. It advances only while waiting.
    fn now(&self) -> UnixMillis;

    /// Who calls.
    fn caller_id(&self) -> &str;

    /// What the caller may do.
    fn permissions(&self) -> &[String];

    /// Numbers that outlive the call.
    fn counters(&self) -> &dyn Counters;

    /// Shows the caller how far the call has come.
    ///
    /// # Errors
    ///
    /// If nobody waits for the result any more, because the caller has canceled the call.
    fn progress(&self, text: &str) -> Result<(), ToolError>;

    /// Whether the caller has canceled the call. Its result does not count then.
    fn is_canceled(&self) -> bool;

    /// Waits until the caller cancels the call. A tool that calls nobody but the outside need not: after a
    /// moment of grace it is dropped.
    fn canceled(&self) -> LocalBoxFuture<'_, ()>;

    /// Sends a request to another server, and reads the whole answer as text within the request's
    /// `timeout_ms`.
    ///
    /// # Errors
    ///
    /// If there is no answer, not in time, or too large a one. An answer of any status is no error.
    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'_, Result<HttpAnswer<String>, ToolError>>;

    /// Other servers, for answers that are read piece by piece.
    fn http(&self) -> &dyn Http;

    /// The secret of the Worker that has this name, if it is set. Never show it or write it to a log.
    fn secret(&self, name: &str) -> Option<Secret>;
}

/// Numbers that survive restarts, each by an owner and a name.
#[async_trait(?Send)]
pub trait Counters {
    /// Adds one and gives the new value; the first is 1. Never gives one value twice.
    ///
    /// # Errors
    ///
    /// A text for the log when the storage cannot be reached.
    async fn increment(&self, owner: &str, name: &str) -> Result<u64, String>;
}

/// Why a call failed, in words that the caller may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError(pub String);

impl fmt::Display for ToolError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ToolError {}

impl From<HttpError> for ToolError {
    fn from(error: HttpError) -> Self {
        Self(error.to_string())
    }
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
/// assert_eq!(answer, Ok(json!("hi")));
/// ```
pub struct FunctionTool<Arguments, Function> {
    name: &'static str,
    description: &'static str,
    input_schema: Value,
    function: Function,
    arguments: PhantomData<fn(Arguments)>,
}

impl<Arguments, Function> FunctionTool<Arguments, Function>
where
    Function: AsyncFn(Arguments, &dyn ToolCall) -> Result<Value, ToolError>,
{
    /// A tool from its function. The arguments are checked against `input_schema` and then read into
    /// the type that the function takes.
    pub fn new(
        name: &'static str,
        description: &'static str,
        input_schema: Value,
        function: Function,
    ) -> Self {
        Self { name, description, input_schema, function, arguments: PhantomData }
    }
}

#[async_trait(?Send)]
impl<Arguments, Function> Tool for FunctionTool<Arguments, Function>
where
    Arguments: DeserializeOwned,
    Function: AsyncFn(Arguments, &dyn ToolCall) -> Result<Value, ToolError>,
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

    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<Value, ToolError> {
        let arguments = serde_json::from_value(arguments)
            .map_err(|error| ToolError(format!("the arguments do not fit: {error}")))?;
        (self.function)(arguments, call).await
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
) -> Result<Value, ToolError> {
    let problems = validate(tool.input_schema(), &arguments);
    if !problems.is_empty() {
        return Err(ToolError(format!("{}: {}", tool.name(), problems.join("; "))));
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
