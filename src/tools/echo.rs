//! `echo`: returns its argument.

use a2a_edge::tool::prelude::*;

/// Gives back the text it gets.
#[tool]
pub(super) fn echo(
    /// What to give back.
    text: String,
) -> String {
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::testing::call;

    #[test]
    fn the_text_comes_back() {
        assert_eq!(call(&super::echo(), json!({"text": "hi"})), Ok("hi".into()));
    }
}
