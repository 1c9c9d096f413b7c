//! `add_numbers`: the sum of two numbers.

use serde::Deserialize;
use serde_json::{Number, Value, json};

use a2a_agents::tool::{FunctionTool, Tool, ToolCall, ToolError};

#[derive(Deserialize)]
struct Arguments {
    a: Number,
    b: Number,
}

pub(super) fn tool() -> impl Tool {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
        "additionalProperties": false,
    });
    FunctionTool::new("add_numbers", "Adds two numbers.", schema, add_numbers)
}

/// Whole numbers stay whole as long as they fit 64 bits.
async fn add_numbers(arguments: Arguments, _: &dyn ToolCall) -> Result<Value, ToolError> {
    let Arguments { a, b } = arguments;
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64())
        && let Some(sum) = a.checked_add(b)
    {
        return Ok(json!(sum));
    }
    let sum = a.as_f64().unwrap_or(f64::NAN) + b.as_f64().unwrap_or(f64::NAN);
    let sum =
        Number::from_f64(sum).ok_or_else(|| ToolError::new("the sum is too large for a number"))?;
    Ok(Value::Number(sum))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_agents::tool::testing::call;

    #[test]
    fn numbers_are_added() {
        for (a, b, sum) in [(json!(2), json!(3), json!(5)), (json!(0.5), json!(0.25), json!(0.75))]
        {
            assert_eq!(call(&super::tool(), json!({"a": a, "b": b})), Ok(sum.into()));
        }
    }

    #[test]
    fn wrong_arguments_are_refused_with_a_reason() {
        let reason = call(&super::tool(), json!({"a": "x"})).unwrap_err().to_string();
        assert_eq!(
            reason,
            "add_numbers: arguments.b: is required; arguments.a: must be of type number, got string"
        );
    }

    #[test]
    fn sums_that_leave_the_range_are_errors() {
        assert!(call(&super::tool(), json!({"a": 1e308, "b": 1e308})).is_err());
    }
}
