//! `is_admin`: whether the caller has the permission `admin`.

use serde::Deserialize;
use serde_json::{Value, json};

use a2a_agents::tool::{FunctionTool, Tool, ToolCall, ToolError};

#[derive(Deserialize)]
struct Arguments {}

pub(super) fn tool() -> impl Tool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let description = "Tells whether you have the permission \"admin\".";
    FunctionTool::new("is_admin", description, schema, is_admin)
}

async fn is_admin(_: Arguments, call: &dyn ToolCall) -> Result<Value, ToolError> {
    Ok(json!(call.permissions().iter().any(|permission| permission == "admin")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::{TestCall, call};

    #[test]
    fn an_admin_is_known_by_permission() {
        assert_eq!(call(&super::tool(), json!({})), Ok(json!(false).into()));
        let admin = TestCall { permissions: vec!["admin".to_owned()], ..TestCall::default() };
        assert_eq!(admin.call(&super::tool(), json!({})), Ok(json!(true).into()));
    }
}
