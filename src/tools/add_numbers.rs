//! `add_numbers`: the sum of two numbers.

use serde_json::Number;

use a2a_edge::tool::prelude::*;

/// Adds two numbers.
#[tool]
pub(super) fn add_numbers(a: Number, b: Number) -> Result<Number, ToolError> {
    // Whole numbers stay whole as long as they fit 64 bits.
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64())
        && let Some(sum) = a.checked_add(b)
    {
        return Ok(sum.into());
    }
    let sum = a.as_f64().unwrap_or(f64::NAN) + b.as_f64().unwrap_or(f64::NAN);
    Number::from_f64(sum).ok_or_else(|| ToolError::arguments("the sum is too large for a number"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::testing::call;

    #[test]
    fn numbers_are_added() {
        for (a, b, sum) in [(json!(2), json!(3), json!(5)), (json!(0.5), json!(0.25), json!(0.75))]
        {
            assert_eq!(call(&super::add_numbers(), json!({"a": a, "b": b})), Ok(sum.into()));
        }
    }

    #[test]
    fn wrong_arguments_are_refused_with_a_reason() {
        let reason = call(&super::add_numbers(), json!({"a": "x"})).unwrap_err().to_string();
        assert_eq!(
            reason,
            "arguments.b: is required; arguments.a: must be of type number, got string"
        );
    }

    #[test]
    fn sums_that_leave_the_range_are_errors() {
        assert!(call(&super::add_numbers(), json!({"a": 1e308, "b": 1e308})).is_err());
    }
}
