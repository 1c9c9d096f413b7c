//! `current_time`: the current instant.

use chrono::{DateTime, FixedOffset, SecondsFormat};

use a2a_edge::tool::prelude::*;

/// Tells the date and time as ISO 8601.
#[tool]
pub(super) fn current_time(
    /// Minutes east of UTC, as 60 for Central European Time in winter.
    #[limit(-840..=840)]
    #[default(0)]
    offset_minutes: i32,
    call: &dyn ToolCall,
) -> Result<String, ToolError> {
    let offset = FixedOffset::east_opt(offset_minutes * 60)
        .ok_or_else(|| ToolError::arguments("there is no such offset from UTC"))?;
    let now = DateTime::from_timestamp_millis(call.now().0).unwrap_or_default();
    Ok(now.with_timezone(&offset).to_rfc3339_opts(SecondsFormat::Millis, true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::testing::call;

    #[test]
    fn the_time_is_told_in_the_zone_asked_for() {
        for (arguments, time) in [
            (json!({}), "2026-01-05T09:00:01.250Z"),
            (json!({"offset_minutes": 90}), "2026-01-05T10:30:01.250+01:30"),
        ] {
            assert_eq!(call(&super::current_time(), arguments), Ok(json!(time).into()));
        }
        assert!(call(&super::current_time(), json!({"offset_minutes": 900})).is_err());
    }
}
