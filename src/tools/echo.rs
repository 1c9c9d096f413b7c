//! `echo`: gives back what it gets.

use serde::Deserialize;
use serde_json::{Value, json};

use a2a_agents::tool::{FunctionTool, Tool, ToolCall, ToolError};

#[derive(Deserialize)]
struct Arguments {
    text: String,
}

pub(super) fn tool() -> impl Tool {
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What to give back."}},
        "required": ["text"],
        "additionalProperties": false,
    });
    FunctionTool::new("echo", "Gives back the text it gets.", schema, echo)
}

async fn echo(arguments: Arguments, _: &dyn ToolCall) -> Result<Value, ToolError> {
    Ok(Value::String(arguments.text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::call;

    #[test]
    fn the_text_comes_back() {
        assert_eq!(call(&super::tool(), json!({"text": "hi"})), Ok("hi".into()));
    }
}
