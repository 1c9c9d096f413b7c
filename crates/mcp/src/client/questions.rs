//! The questions in results that require input.

use serde_json::Value;

use super::McpError;
use super::error::excerpt;
use crate::model::Question;

/// The questions of a result that requires input, and the state that the next request must contain.
pub(super) fn asked(result: &Value) -> Result<(Vec<Question>, Option<String>), McpError> {
    let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
    Ok((questions(result)?, state))
}

/// The questions in `inputRequests`.
///
/// # Errors
///
/// If a question uses a capability that the client has not offered.
pub(super) fn questions(result: &Value) -> Result<Vec<Question>, McpError> {
    let requests = result.get("inputRequests").and_then(Value::as_object);
    let mut questions = Vec::new();
    for (key, request) in requests.into_iter().flatten() {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = request.get("params").filter(|_| method == "elicitation/create");
        let question = params.and_then(|params| Question::read(key, params)).ok_or_else(|| {
            let method = excerpt(method);
            McpError::Unexpected(format!(
                "the server asks for \"{method}\" in a way that is not offered"
            ))
        })?;
        questions.push(question);
    }
    Ok(questions)
}
