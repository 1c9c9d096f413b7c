//! What an answer of a model means for the task.

use chat::{ChatAnswer, End};

/// What an answer means for the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It is the answer.
    Answered,
    /// It calls tools.
    Calls,
    /// The model declines, in these words.
    Refused(String),
    /// It is no answer, for this reason.
    Failed(String),
}

/// What an answer means for the task. Calls of one that is not whole are not made, as the model may have meant to say more.
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

/// Whether an answer says nothing at all, and not why.
pub(super) fn is_empty(answer: &ChatAnswer) -> bool {
    answer.calls.is_empty() && answer.refusal.is_none() && answer.text.trim().is_empty()
}

/// Whether an answer that says nothing may say something if it is asked for again.
pub(super) fn may_be_repeated(answer: &ChatAnswer) -> bool {
    is_empty(answer) && matches!(answer.end, End::Stop | End::ToolCalls | End::Unsaid)
}

/// Whether a provider's own word for the end of an answer says that it is not whole.
fn is_failure(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    FAILURES.iter().any(|failure| reason == *failure)
}

/// Words of providers for answers that are not whole.
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
