//! Tools: functions with a name, a description and a JSON schema, that agents offer as skills.
//!
//! This module knows nothing of tasks or of the platform; a build script uses it too, to check agent
//! files against the tools that exist.

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
    let arguments = with_whole_numbers(arguments);
    let problems = validate(tool.input_schema(), &arguments);
    if !problems.is_empty() {
        return Err(ToolError::Arguments(problems.join("; ")));
    }
    tool.call(arguments, call).await
}

/// The same JSON with whole numbers written as such. To JSON Schema 3.0 is an integer, and some clients send every
/// number like that, since theirs are all floats (`google.protobuf.Struct`); serde takes it for a float alone.
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

/// A float as the integer that it is, if it is one that floats hold exactly.
fn whole(number: &Number) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Number::from(float as i64))
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
            async |_: Value, _: &dyn ToolCall| Ok(().into()),
        );
        let skill = skill_of(&tool);
        assert_eq!(skill.id, "find_seats");
        assert_eq!(skill.name, "Find Seats");
        assert_eq!(skill.tags, ["find", "seats", "tool"]);
    }
}
