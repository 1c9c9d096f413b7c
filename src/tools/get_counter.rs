//! `get_counter`: counts its own calls, per caller, across restarts.

use serde::Deserialize;
use serde_json::{Value, json};

use a2a_agents::tool::{FunctionTool, Tool, ToolCall, ToolError};

#[derive(Deserialize)]
struct Arguments {}

pub(super) fn tool() -> impl Tool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let description = "Tells how often you have called it, this call included.";
    FunctionTool::new(NAME, description, schema, get_counter)
}

async fn get_counter(_: Arguments, call: &dyn ToolCall) -> Result<Value, ToolError> {
    let reason = "the counter is not available at the moment; try again later";
    let count = call.counters().increment(call.caller_id(), NAME).await;
    count.map(Value::from).map_err(|_| ToolError::new(reason))
}

const NAME: &str = "get_counter";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::{TestCall, call};

    #[test]
    fn calls_are_counted() {
        assert_eq!(call(&super::tool(), json!({})), Ok(json!(1).into()));
    }

    #[test]
    fn storage_trouble_is_told_without_its_cause() {
        let without = TestCall { has_counters: false, ..TestCall::default() };
        let error = without.call(&super::tool(), json!({})).unwrap_err();
        assert_eq!(error.text(), "the counter is not available at the moment; try again later");
    }
}
