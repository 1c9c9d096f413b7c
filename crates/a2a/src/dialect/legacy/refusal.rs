//! Errors over JSON-RPC. This dialect has few codes, so some codes have two meanings; the message distinguishes them. The
//! message of an error of the specification is a constant, by which some clients recognize the error, so the description is
//! in the error's data.

use serde_json::{Map, Value};

use crate::error::Error;

/// The code of an error. Codes of later versions are never used, since clients know them with other meanings or not at all.
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

/// The message of an error: the message of the 0.1.0 schema for its code. If the error borrows the code of another error, or
/// the schema does not contain the code, the message is the description.
pub(in crate::dialect) fn message(error: &Error) -> String {
    let is_borrowed = matches!(
        error,
        Error::TaskFinished(_) | Error::WebhookRefused(_) | Error::VersionNotSupported(_)
    ) || error.wire().status == EXHAUSTED;
    let code = code(error);
    let known = MESSAGES.iter().find(|(known, _)| *known == code && !is_borrowed);
    known.map_or_else(|| text(error), |(_, message)| (*message).to_owned())
}

/// The data of an error: the description and the details.
pub(in crate::dialect) fn data(error: &Error) -> Value {
    let mut members = Map::new();
    members.insert("text".to_owned(), text(error).into());
    members.insert("details".to_owned(), error.details().into());
    members.into()
}

/// The description of an error.
pub(super) fn text(error: &Error) -> String {
    match error {
        Error::TaskFinished(state) => format!(
            "the task is {state}, which is final; send the message under another id to begin a new task"
        ),
        _ if error.wire().status == EXHAUSTED => format!("resource exhausted: {error}"),
        _ => error.to_string(),
    }
}

/// The messages of errors in the schema of 0.1.0, by their codes.
const MESSAGES: [(i32, &str); 9] = [
    (-32700, "Invalid JSON payload"),
    (-32600, "Request payload validation error"),
    (-32601, "Method not found"),
    (-32602, "Invalid parameters"),
    (-32603, "Internal error"),
    (-32001, "Task not found"),
    (-32002, "Task cannot be canceled"),
    (-32003, "Push Notification is not supported"),
    (-32004, "This operation is not supported"),
];

/// The status of errors for callers whose budget is used up.
const EXHAUSTED: &str = "RESOURCE_EXHAUSTED";

/// The codes that exist only in later versions.
const LATER: std::ops::RangeInclusive<i32> = -32099..=-32006;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FieldViolation, TaskId, TaskState};
    use crate::terms::{DayLimit, Quota, UsedUp};

    #[test]
    fn errors_have_the_codes_that_clients_know() {
        let id = TaskId::new("t").unwrap();
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
            (
                Error::OverQuota(Quota::Tasks(3)),
                -32003,
                "resource exhausted: you have 3 unfinished tasks",
            ),
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
            (
                Error::PartNotAccepted(Box::new(FieldViolation::new("p", "is x/y"))),
                -32005,
                "p is x/y",
            ),
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
            assert_eq!(data(&error)["text"], super::text(&error), "{error:?}");
        }
    }

    #[test]
    fn errors_of_the_schema_have_its_messages() {
        let violation = FieldViolation::new("url", "must be https");
        for (error, expected) in [
            (Error::TaskNotFound(TaskId::new("t").unwrap()), "Task not found"),
            (
                Error::TaskNotCancelable {
                    id: TaskId::new("t").unwrap(),
                    state: TaskState::Completed,
                },
                "Task cannot be canceled",
            ),
            (Error::PushNotificationNotSupported, "Push Notification is not supported"),
            (Error::UnsupportedOperation("no".to_owned()), "This operation is not supported"),
            (Error::JsonParse("no".to_owned()), "Invalid JSON payload"),
            (Error::InvalidRequest("no".to_owned()), "Request payload validation error"),
            (Error::MethodNotFound("no".to_owned()), "Method not found"),
            (Error::invalid("id", "is required"), "Invalid parameters"),
            (Error::Unavailable("later"), "Internal error"),
            // These errors borrow a code, so the schema's message for it would be wrong.
            (
                Error::TaskFinished(TaskState::Failed),
                "the task is failed, which is final; send the message under another id to begin a new task",
            ),
            (
                Error::RateLimited(3),
                "resource exhausted: too many requests; send this one again in 3 seconds",
            ),
            (Error::WebhookRefused(violation), "invalid parameters: url must be https"),
            (Error::VersionNotSupported("send another".to_owned()), "send another"),
        ] {
            assert_eq!(message(&error), expected, "{error:?}");
        }
    }
}
