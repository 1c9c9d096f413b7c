//! `get_greeting`: says hello.

use serde::Deserialize;
use serde_json::{Value, json};

use a2a_agents::tool::{FunctionTool, Tool, ToolCall, ToolError};

#[derive(Deserialize)]
struct Arguments {
    #[serde(default = "world", alias = "text")]
    name: String,
}

pub(super) fn tool() -> impl Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 200, "default": world()},
            "text": {"type": "string", "maxLength": 200, "description": "The same as `name`."},
        },
        "additionalProperties": false,
    });
    FunctionTool::new("get_greeting", "Says hello to somebody.", schema, get_greeting)
}

async fn get_greeting(arguments: Arguments, _: &dyn ToolCall) -> Result<Value, ToolError> {
    Ok(Value::String(format!("Hello, {}!", arguments.name)))
}

fn world() -> String {
    "world".to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::call;

    #[test]
    fn everybody_is_greeted() {
        for (arguments, greeting) in [
            (json!({}), "Hello, world!"),
            (json!({"name": "Ada"}), "Hello, Ada!"),
            (json!({"text": "Bob"}), "Hello, Bob!"),
        ] {
            assert_eq!(call(&super::tool(), arguments), Ok(json!(greeting).into()));
        }
    }
}
