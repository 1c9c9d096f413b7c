//! `probe_call`: the properties of a call that a tool can read.

use a2a_edge::tool::prelude::*;

/// Tells what a tool may know of its call.
#[tool]
pub(super) fn probe_call(call: &dyn ToolCall) -> String {
    format!("{} {} [{}]", call.now(), call.caller_id(), call.permissions().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::testing::call;

    #[test]
    fn the_time_the_caller_and_its_permissions_are_told() {
        let told = call(&super::probe_call(), json!({}));
        assert_eq!(told, Ok(json!("2026-01-05T09:00:01.250Z c []").into()));
    }
}
