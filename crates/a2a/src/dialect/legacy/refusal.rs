//! The codes of errors over JSON-RPC. This dialect has few of them, so some have two meanings; the text tells which.

use crate::error::Error;

/// The code of an error. None of those is given that later versions added, since clients know them by other meanings or not
/// at all.
pub(in crate::dialect) fn code(error: &Error) -> i32 {
    let wire = error.wire();
    match error {
        Error::TaskFinished { .. } => -32002,
        Error::WebhookRefused(_) => -32004,
        Error::ExtensionSupportRequired(_) | Error::GenerationMismatch { .. } => -32602,
        Error::VersionNotSupported(_) => -32601,
        _ if wire.status == EXHAUSTED => -32003,
        _ if LATER.contains(&wire.code) => -32603,
        _ => wire.code,
    }
}

/// The message of an error.
pub(in crate::dialect) fn text(error: &Error) -> String {
    match error {
        Error::TaskFinished(state) => format!(
            "the task is {state}, which is final; send the message under another id to begin a new task"
        ),
        _ if error.wire().status == EXHAUSTED => format!("resource exhausted: {error}"),
        _ => error.to_string(),
    }
}

/// The status of errors of callers who have used up what they may use.
const EXHAUSTED: &str = "RESOURCE_EXHAUSTED";

/// The codes that later versions added.
const LATER: std::ops::RangeInclusive<i32> = -32099..=-32006;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FieldViolation, TaskId, TaskState};
    use crate::terms::{DayLimit, UsedUp};

    #[test]
    fn errors_have_the_codes_that_clients_know() {
        let id = TaskId::new("t");
        let violation = FieldViolation::new("url", "must be https");
        let text = String::new;
        let used_up = UsedUp { limit: DayLimit::CostMicros(2_500_000), seconds: 7 };
        for (error, expected, told) in [
            (Error::TaskNotFound(id.clone()), -32001, "task not found"),
            (
                Error::TaskNotCancelable { id: id.clone(), state: TaskState::Completed },
                -32002,
                "the task is completed and cannot be canceled",
            ),
            (Error::TaskFinished(TaskState::Failed), -32002, "the task is failed, which is final"),
            (Error::PushNotificationNotSupported, -32003, "push notifications are not supported"),
            (Error::TooManyTasks(3), -32003, "resource exhausted: you have 3 unfinished tasks"),
            (Error::TooManyStreams(3), -32003, "resource exhausted: the task is followed by"),
            (
                Error::UsedUp(used_up),
                -32003,
                "resource exhausted: you have used up the cost of 2.5",
            ),
            (Error::RateLimited(3), -32003, "resource exhausted: too many requests"),
            (Error::UnsupportedOperation(text()), -32004, ""),
            (Error::WebhookRefused(violation), -32004, "invalid parameters: url must be https"),
            (Error::ContentTypeNotSupported(text()), -32005, ""),
            (Error::InvalidAgentResponse(text()), -32603, ""),
            (Error::ExtendedAgentCardNotConfigured, -32603, ""),
            (Error::ExtensionSupportRequired(Vec::new()), -32602, "this agent requires"),
            (Error::VersionNotSupported(text()), -32601, ""),
            (Error::GenerationMismatch { id, expected: 5, generation: 7 }, -32602, "the task is"),
            (Error::JsonParse(text()), -32700, "the body is not valid JSON"),
            (Error::InvalidRequest(text()), -32600, "invalid request"),
            (Error::MethodNotFound(text()), -32601, "there is no method"),
            (Error::invalid("id", "is required"), -32602, "invalid parameters: id is required"),
            (Error::Unavailable(""), -32603, ""),
            (Error::Internal { task: None }, -32603, "internal error"),
        ] {
            assert_eq!(code(&error), expected, "{error:?}");
            assert!(super::text(&error).starts_with(told), "{error}");
        }
    }
}
