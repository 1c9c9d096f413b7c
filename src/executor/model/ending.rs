//! Decides if an answer of a model ends the turn, calls tools, or fails the task.

use chat::{ChatAnswer, End};

/// The meaning of an answer for the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The answer is final.
    Answered,
    /// The answer calls tools.
    Calls,
    /// The model refuses, with this text.
    Refused(String),
    /// The answer cannot be used, for this reason.
    Failed(String),
}

/// The meaning of an answer. The calls of an incomplete answer are not made, because the model may have wanted to write
/// more.
pub(super) fn ending(answer: &ChatAnswer) -> Ending {
    let has_calls = !answer.calls.is_empty();
    if let Some(refusal) = answer.refusal.as_ref().filter(|_| !has_calls) {
        return Ending::Refused(refusal.clone());
    }
    let cut = "the answer of the model was cut: it reached the largest number of tokens that an answer may have; raise \
               `max_completion_tokens` (or `max_tokens`) in `parameters`, or ask for less";
    match &answer.end {
        End::Length => Ending::Failed(cut.to_owned()),
        End::ContentFilter => Ending::Failed(
            "the provider of the model filtered the answer (content_filter)".to_owned(),
        ),
        End::Other(reason) if is_failure(reason) => {
            Ending::Failed(format!("the model stopped before its answer was whole: {reason}"))
        }
        _ if has_calls => Ending::Calls,
        End::Other(reason) if is_empty(answer) => {
            Ending::Failed(format!("the model gave an empty answer, and stopped with {reason:?}"))
        }
        _ if is_empty(answer) => Ending::Failed("the model gave an empty answer, twice".to_owned()),
        End::Stop | End::ToolCalls | End::Unsaid | End::Other(_) => Ending::Answered,
    }
}

/// True if an answer has no text, no calls and no refusal.
pub(super) fn is_empty(answer: &ChatAnswer) -> bool {
    answer.calls.is_empty() && answer.refusal.is_none() && answer.text.trim().is_empty()
}

/// True if the same request may bring a non-empty answer if it is repeated.
pub(super) fn may_be_repeated(answer: &ChatAnswer) -> bool {
    is_empty(answer) && matches!(answer.end, End::Stop | End::ToolCalls | End::Unsaid)
}

/// True if a provider's own word for the end of an answer means that the answer is incomplete.
fn is_failure(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    FAILURES.iter().any(|failure| reason == *failure)
}

/// The words of providers for incomplete answers.
const FAILURES: [&str; 10] = [
    "error",
    "abort",
    "cancelled",
    "canceled",
    "insufficient_system_resource",
    "malformed_function_call",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
];
