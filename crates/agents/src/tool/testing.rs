//! Calls of tools, for the tests beside them.

use std::cell::Cell;

use async_trait::async_trait;
use futures_executor::block_on;
use serde_json::Value;

use super::{Counters, Tool, ToolContext, ToolError, call_checked};
use a2a::model::UnixMillis;

/// Calls a tool at 2026-01-05T09:00:01.250Z, as somebody without permissions and with counters at 0.
pub fn call(tool: &dyn Tool, arguments: Value) -> Result<Value, ToolError> {
    call_with(&OneCounter::default(), &[], tool, arguments)
}

/// As [`call`], with other counters and permissions.
pub fn call_with(
    counters: &dyn Counters,
    permissions: &[String],
    tool: &dyn Tool,
    arguments: Value,
) -> Result<Value, ToolError> {
    let now = UnixMillis(1_767_603_601_250);
    let context = ToolContext { now, caller_id: "c", permissions, counters };
    block_on(call_checked(tool, arguments, &context))
}

#[derive(Default)]
struct OneCounter(Cell<u64>);

#[async_trait(?Send)]
impl Counters for OneCounter {
    async fn increment(&self, _owner: &str, _name: &str) -> Result<u64, String> {
        self.0.set(self.0.get() + 1);
        Ok(self.0.get())
    }
}

/// Counters whose storage cannot be reached.
pub struct NoCounter;

#[async_trait(?Send)]
impl Counters for NoCounter {
    async fn increment(&self, _owner: &str, _name: &str) -> Result<u64, String> {
        Err("D1_ERROR: secret host".to_owned())
    }
}
