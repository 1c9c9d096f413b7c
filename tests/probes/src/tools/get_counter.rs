//! `get_counter`: counts its own calls, per caller or group of callers, across restarts.

use a2a_edge::tool::prelude::*;

/// Tells how often you have called it, this call included.
#[tool]
pub(super) async fn get_counter(call: &dyn ToolCall) -> Result<u64, ToolError> {
    let reason = "the counter is not available at the moment; try again later";
    let count = call.counters().increment(call.owner(), "get_counter").await;
    count.map_err(|_| ToolError::new(reason))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::testing::{TestCall, call};

    #[test]
    fn calls_are_counted() {
        assert_eq!(call(&super::get_counter(), json!({})), Ok(json!(1).into()));
    }

    #[test]
    fn storage_trouble_is_told_without_its_cause() {
        let without = TestCall { has_counters: false, ..TestCall::default() };
        let error = without.call(&super::get_counter(), json!({})).unwrap_err();
        assert_eq!(error.text(), "the counter is not available at the moment; try again later");
    }
}
