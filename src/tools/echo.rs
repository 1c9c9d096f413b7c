//! `echo`: gives back what it gets.

use serde::Deserialize;
use serde_json::{Value, json};

use a2a_agents::tool::{LocalTool, ToolContext, ToolError};

#[derive(Deserialize)]
pub(super) struct Arguments {
    text: String,
}

pub(super) fn tool() -> LocalTool<Arguments> {
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What to give back."}},
        "required": ["text"],
        "additionalProperties": false,
    });
    LocalTool::new("echo", "Gives back the text it gets.", schema, echo)
}

fn echo(arguments: Arguments, _: &ToolContext<'_>) -> Result<Value, ToolError> {
    Ok(Value::String(arguments.text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::call;

    #[test]
    fn the_text_comes_back() {
        assert_eq!(call(&super::tool(), json!({"text": "hi"})), Ok(json!("hi")));
    }
}
