//! Tools: functions with a name, a description and a JSON schema, which agents offer as skills.
//!
//! This module does not depend on tasks or on the platform. Build scripts use it as well, to check agent files against
//! the existing tools.

mod asking;
mod call;
mod error;
mod function;
mod output;
pub mod prelude;
mod schema;
mod shape;
mod step;
pub mod testing;

use async_trait::async_trait;
use serde_json::{Number, Value};

use a2a::client::capitalized;
use a2a::model::AgentSkill;

pub use a2a_macros::{arguments, tool};
pub use asking::{example, required, takes_string, text_argument};
pub use call::{Counters, StepStart, ToolCall};
pub use error::{Fault, ToolError};
pub use function::FunctionTool;
pub use output::{IntoAnswer, ToolOutput};
pub use schema::{check_schema, validate, validate_as};
pub use shape::{Argument, Field, Shape};
pub use step::Retry;

/// A function that can be called with JSON arguments.
#[async_trait(?Send)]
pub trait Tool {
    /// The name, unique among the tools: lower-case words joined by `_`, as `add_numbers`.
    fn name(&self) -> &str;

    /// The description in one or two sentences, for models and people.
    fn description(&self) -> &str;

    /// The JSON schema of the arguments, always of type `object`.
    fn input_schema(&self) -> &Value;

    /// The known names of the secrets and variables that the tool reads. Scripts use them to report the missing ones.
    fn needs(&self) -> Vec<String> {
        Vec::new()
    }

    /// Calls the tool with arguments that fit the schema.
    ///
    /// # Errors
    ///
    /// The reason, which the caller may read, and the party that caused it.
    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<ToolOutput, ToolError>;
}

/// Checks arguments against the schema of a tool, and then calls the tool.
///
/// # Errors
///
/// All problems of the arguments, each with its path, or the error of the tool.
pub async fn call_checked(
    tool: &dyn Tool,
    arguments: Value,
    call: &dyn ToolCall,
) -> Result<ToolOutput, ToolError> {
    let arguments = with_whole_numbers(arguments);
    let problems = validate(tool.input_schema(), &arguments);
    if !problems.is_empty() {
        return Err(ToolError::Arguments(problems.join("; ")));
    }
    tool.call(arguments, call).await
}

/// The same JSON, with whole numbers as integers. Some clients send every number as a float (`google.protobuf.Struct`).
/// JSON Schema treats 3.0 as an integer, but serde decodes it only as a float.
fn with_whole_numbers(json: Value) -> Value {
    match json {
        Value::Number(number) => Value::Number(whole(&number).unwrap_or(number)),
        Value::Array(elements) => elements.into_iter().map(with_whole_numbers).collect(),
        Value::Object(members) => {
            let whole = |(name, value)| (name, with_whole_numbers(value));
            Value::Object(members.into_iter().map(whole).collect())
        }
        Value::Null | Value::Bool(_) | Value::String(_) => json,
    }
}

/// Converts a float into an integer; `None` if the float is not a whole number within the range of exact floats.
fn whole(number: &Number) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Number::from(float as i64))
}

/// The problems of the schema of a tool.
pub fn schema_problems(tool: &dyn Tool) -> Vec<String> {
    let (name, schema) = (tool.name(), tool.input_schema());
    let is_object = schema.get("type") == Some(&"object".into());
    let no_object = (!is_object).then(|| "`type` must be object".to_owned());
    let problems = no_object.into_iter().chain(check_schema(schema));
    problems.map(|problem| format!("the schema of {name}: {problem}")).collect()
}

/// The skill of a tool in an agent's card: `add_numbers` becomes "Add Numbers", with its words as tags.
pub fn skill_of(tool: &dyn Tool) -> AgentSkill {
    let words: Vec<&str> = tool.name().split('_').filter(|word| !word.is_empty()).collect();
    let title: Vec<String> = words.iter().map(|word| capitalized(word)).collect();
    let mut tags: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_becomes_a_skill_with_a_readable_name_and_tags() {
        let tool = FunctionTool::new(
            "find_seats",
            "Finds.",
            Value::Null,
            async |_: Value, _: &dyn ToolCall| Ok(().into()),
        );
        let skill = skill_of(&tool);
        assert_eq!(skill.id, "find_seats");
        assert_eq!(skill.name, "Find Seats");
        assert_eq!(skill.tags, ["find", "seats", "tool"]);
    }
}
