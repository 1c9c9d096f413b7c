//! Answers that must fit a JSON schema.

use serde_json::Value;

use a2a::model::{MAX_FOREIGN_VALUES, read_foreign};
use a2a_agents::tool::validate_as;

/// The JSON value of an answer.
///
/// # Errors
///
/// The mistake in the answer, as text for the model.
pub(super) fn parse(text: &str, schema: &Value) -> Result<Value, String> {
    let text = unfenced(text.trim());
    let data =
        read_foreign(text.as_bytes(), MAX_FOREIGN_VALUES).map_err(|unfit| format!("it {unfit}"))?;
    let problems = validate_as("answer", schema, &data);
    if problems.is_empty() { Ok(data) } else { Err(problems.join("; ")) }
}

/// The message to the model after an answer that does not fit the schema; sent once in a turn.
pub(super) fn repair(reason: &str) -> String {
    format!(
        "Your answer does not fit its JSON schema: {reason}. Answer again with nothing but JSON that fits the schema."
    )
}

/// A text without the Markdown code fence that many models write around JSON.
fn unfenced(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return text;
    };
    // The first line names the language.
    inside.split_once('\n').map_or(inside, |(_, body)| body).trim()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_read_and_checked() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        for text in
            ["{\"n\": 5}", " {\"n\": 5}\n", "```json\n{\"n\": 5}\n```", "```\n{\"n\": 5}\n```"]
        {
            assert_eq!(parse(text, &schema), Ok(json!({"n": 5})), "{text}");
        }
        assert!(parse("five", &schema).unwrap_err().starts_with("it is not JSON ("));
        assert_eq!(
            parse("{\"n\": \"five\"}", &schema).unwrap_err(),
            "answer.n: must be of type integer, got string"
        );
    }
}
