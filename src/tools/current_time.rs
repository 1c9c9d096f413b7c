//! `current_time`: the present instant.

use chrono::{DateTime, FixedOffset, SecondsFormat};
use serde::Deserialize;
use serde_json::{Value, json};

use a2a_agents::tool::{FunctionTool, Tool, ToolCall, ToolError};

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    offset_minutes: i32,
}

pub(super) fn tool() -> impl Tool {
    let offset = json!({
        "type": "integer",
        "minimum": -14 * 60,
        "maximum": 14 * 60,
        "default": 0,
        "description": "Minutes east of UTC, as 60 for Central European Time in winter.",
    });
    let schema = json!({
        "type": "object",
        "properties": {"offset_minutes": offset},
        "additionalProperties": false,
    });
    FunctionTool::new("current_time", "Tells the date and time as ISO 8601.", schema, current_time)
}

async fn current_time(arguments: Arguments, call: &dyn ToolCall) -> Result<Value, ToolError> {
    let offset = FixedOffset::east_opt(arguments.offset_minutes * 60)
        .ok_or_else(|| ToolError::new("there is no such offset from UTC"))?;
    let now = DateTime::from_timestamp_millis(call.now().0).unwrap_or_default();
    let text = now.with_timezone(&offset).to_rfc3339_opts(SecondsFormat::Millis, true);
    Ok(Value::String(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::call;

    #[test]
    fn the_time_is_told_in_the_zone_asked_for() {
        for (arguments, time) in [
            (json!({}), "2026-01-05T09:00:01.250Z"),
            (json!({"offset_minutes": 90}), "2026-01-05T10:30:01.250+01:30"),
        ] {
            assert_eq!(call(&super::tool(), arguments), Ok(json!(time).into()));
        }
        assert!(call(&super::tool(), json!({"offset_minutes": 900})).is_err());
    }
}
