//! `get_greeting`: returns a greeting.

use a2a_edge::tool::prelude::*;

/// Says hello to somebody.
#[tool]
pub(super) fn get_greeting(
    #[limit(..=200)]
    #[default("world")]
    name: String,
) -> String {
    format!("Hello, {name}!")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::testing::call;

    #[test]
    fn everybody_is_greeted() {
        for (arguments, greeting) in
            [(json!({}), "Hello, world!"), (json!({"name": "Ada"}), "Hello, Ada!")]
        {
            assert_eq!(call(&super::get_greeting(), arguments), Ok(json!(greeting).into()));
        }
    }
}
