//! `is_admin`: whether the caller has the permission `admin`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{LocalTool, ToolContext, ToolError};

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
