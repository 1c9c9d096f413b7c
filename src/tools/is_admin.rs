//! `is_admin`: whether the caller has the permission `admin`.

use serde::Deserialize;
use serde_json::{Value, json};

use a2a_agents::tool::{LocalTool, ToolContext, ToolError};

#[derive(Deserialize)]
pub(super) struct Arguments {}

pub(super) fn tool() -> LocalTool<Arguments> {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let description = "Tells whether you have the permission \"admin\".";
    LocalTool::new("is_admin", description, schema, is_admin)
}

fn is_admin(_: Arguments, context: &ToolContext<'_>) -> Result<Value, ToolError> {
    Ok(json!(context.permissions.iter().any(|permission| permission == "admin")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::{NoCounter, call, call_with};

    #[test]
    fn an_admin_is_known_by_permission() {
        assert_eq!(call(&super::tool(), json!({})), Ok(json!(false)));
        let permissions = ["admin".to_owned()];
        let answer = call_with(&NoCounter, &permissions, &super::tool(), json!({}));
        assert_eq!(answer, Ok(json!(true)));
    }
}
