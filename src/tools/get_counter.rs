//! `get_counter`: counts its own calls, per caller, across restarts.

use async_trait::async_trait;
use serde_json::{Value, json};

use a2a_agents::tool::{Tool, ToolContext, ToolError};

pub(super) struct GetCounter {
    input_schema: Value,
}

pub(super) fn tool() -> GetCounter {
    let input_schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    GetCounter { input_schema }
}

#[async_trait(?Send)]
impl Tool for GetCounter {
    fn name(&self) -> &str {
        "get_counter"
    }

    fn description(&self) -> &str {
        "Tells how often you have called it, this call included."
    }

    fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    async fn call(&self, _: Value, context: &ToolContext<'_>) -> Result<Value, ToolError> {
        match context.counters.increment(context.caller_id, self.name()).await {
            Ok(count) => Ok(json!(count)),
            Err(_) => {
                let reason = "the counter is not available at the moment; try again later";
                Err(ToolError(reason.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::{NoCounter, call, call_with};

    #[test]
    fn calls_are_counted() {
        assert_eq!(call(&super::tool(), json!({})), Ok(json!(1)));
    }

    #[test]
    fn storage_trouble_is_told_without_its_cause() {
        let error = call_with(&NoCounter, &[], &super::tool(), json!({})).unwrap_err();
        assert_eq!(error.0, "the counter is not available at the moment; try again later");
    }
}
