//! `get_greeting`: says hello.

use serde::Deserialize;
use serde_json::{Value, json};

use a2a_agents::tool::{LocalTool, ToolContext, ToolError};

#[derive(Deserialize)]
pub(super) struct Arguments {
    #[serde(default = "world", alias = "text")]
    name: String,
}

pub(super) fn tool() -> LocalTool<Arguments> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 200, "default": world()},
            "text": {"type": "string", "maxLength": 200, "description": "The same as `name`."},
        },
        "additionalProperties": false,
    });
    LocalTool::new("get_greeting", "Says hello to somebody.", schema, get_greeting)
}

fn get_greeting(arguments: Arguments, _: &ToolContext<'_>) -> Result<Value, ToolError> {
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
            assert_eq!(call(&super::tool(), arguments), Ok(json!(greeting)));
        }
    }
}
