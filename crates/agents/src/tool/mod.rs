//! Tools: functions with a name, a description and a JSON schema, that agents offer as skills.
//!
//! This module knows nothing of tasks or of the platform; a build script uses it too, to check agent
//! files against the tools that exist.

mod schema;
#[cfg(any(test, feature = "build"))]
pub mod testing;

use std::fmt;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use a2a::model::{AgentSkill, UnixMillis};

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
    async fn call(&self, arguments: Value, context: &ToolContext<'_>) -> Result<Value, ToolError>;
}

/// What a tool may know of its call.
pub struct ToolContext<'a> {
    /// When the call was made.
    pub now: UnixMillis,
    /// Who calls.
    pub caller_id: &'a str,
    /// What the caller may do.
    pub permissions: &'a [String],
    /// Numbers that outlive the call.
    pub counters: &'a dyn Counters,
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

/// A tool that is one Rust function.
pub struct LocalTool<Arguments> {
    name: &'static str,
    description: &'static str,
    input_schema: Value,
    function: fn(Arguments, &ToolContext<'_>) -> Result<Value, ToolError>,
}

impl<Arguments> LocalTool<Arguments> {
    /// A tool from its function. The arguments are checked against `input_schema` and then read into
    /// the type that the function takes.
    pub fn new(
        name: &'static str,
        description: &'static str,
        input_schema: Value,
        function: fn(Arguments, &ToolContext<'_>) -> Result<Value, ToolError>,
    ) -> Self {
        Self { name, description, input_schema, function }
    }
}

#[async_trait(?Send)]
impl<Arguments: DeserializeOwned> Tool for LocalTool<Arguments> {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    async fn call(&self, arguments: Value, context: &ToolContext<'_>) -> Result<Value, ToolError> {
        let arguments = serde_json::from_value(arguments)
            .map_err(|error| ToolError(format!("the arguments do not fit: {error}")))?;
        (self.function)(arguments, context)
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
    context: &ToolContext<'_>,
) -> Result<Value, ToolError> {
    let problems = validate(tool.input_schema(), &arguments);
    if !problems.is_empty() {
        return Err(ToolError(format!("{}: {}", tool.name(), problems.join("; "))));
    }
    tool.call(arguments, context).await
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
        let tool =
            LocalTool::<Value>::new("find_seats", "Finds.", Value::Null, |_, _| Ok(Value::Null));
        let skill = skill_of(&tool);
        assert_eq!(skill.id, "find_seats");
        assert_eq!(skill.name, "Find Seats");
        assert_eq!(skill.tags, ["find", "seats", "tool"]);
    }
}
