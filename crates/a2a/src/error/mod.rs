//! The errors of the protocol, with their texts for the client; the module [`wire`](self) has the only table
//! of their wire forms (spec §3.3.2, §5.4).

mod wire;

use std::fmt;

use serde_json::{Map, Value, json};

use crate::model::{FieldViolation, TaskId, TaskState, number_text};
use crate::terms::{DayLimit, Quota, UsedUp};
pub use wire::Wire;

/// The error of a refused request, or of a request that could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The task does not exist for this caller.
    TaskNotFound(TaskId),
    /// The task has ended and cannot be canceled.
    TaskNotCancelable {
        /// The id of the task.
        id: TaskId,
        /// The state in which the task ended.
        state: TaskState,
    },
    /// The task is not at the generation that the call requires.
    GenerationMismatch {
        /// The id of the task.
        id: TaskId,
        /// The required generation.
        expected: u64,
        /// The present generation of the task.
        generation: u64,
    },
    /// The agent does not support webhooks.
    PushNotificationNotSupported,
    /// The task has ended and accepts no more messages.
    TaskFinished(TaskState),
    /// The agent does not support this operation, or not for this task.
    UnsupportedOperation(String),
    /// The server does not accept the media type of the body.
    ContentTypeNotSupported(String),
    /// The agent does not accept the media type of a part of the message.
    PartNotAccepted(Box<FieldViolation>),
    /// The agent has violated the protocol.
    InvalidAgentResponse(String),
    /// The agent offers an extended card, but has none.
    ExtendedAgentCardNotConfigured,
    /// The agent requires these extensions (by their URIs) for a message.
    ExtensionSupportRequired(Vec<String>),
    /// The agent does not support this version of the protocol.
    VersionNotSupported(String),
    /// The body is not JSON.
    JsonParse(String),
    /// The body is JSON, but not a request.
    InvalidRequest(String),
    /// The body is larger than this many bytes.
    TooLarge(usize),
    /// There is no space to store the body, for this reason.
    NoRoom(String),
    /// The body broke off before its end.
    BodyIncomplete,
    /// The body did not arrive in time.
    BodyTimeout,
    /// The bodies that are arriving at the moment need more memory than is available, so this one was
    /// dropped.
    TooManyBodies,
    /// The method does not exist.
    MethodNotFound(String),
    /// The method or path belongs to another version than the requested one; the sentence names that
    /// version.
    OtherVersionsName(String),
    /// Invalid parameters.
    InvalidParams(Vec<FieldViolation>),
    /// The URL of a webhook has a target to which notifications may not be sent.
    WebhookRefused(FieldViolation),
    /// The path does not exist.
    NotFound(String),
    /// The path does not accept this HTTP method; the text lists the accepted ones.
    MethodNotAllowed(&'static str),
    /// The task already has the maximum number of streams.
    TooManyStreams(usize),
    /// The caller already has the maximum number of streams with the agent.
    TooManyStreamsOfCaller(usize),
    /// The caller has reached a quota, so no task begins.
    OverQuota(Quota),
    /// The caller's daily budget is used up.
    UsedUp(UsedUp),
    /// The request has no credentials although they are required, or its credentials are refused.
    Unauthenticated(Box<Refusal>),
    /// The caller does not have the permission.
    PermissionDenied(Box<Refusal>),
    /// The requests exceed a rate limit; the same request may succeed after this number of seconds.
    RateLimited(u32),
    /// A required service is not available at the moment. The cause was logged.
    Unavailable(&'static str),
    /// The agents that the build has embedded cannot be read. The cause was logged.
    NoAgents,
    /// The agent with this slug cannot run: its executor could not be created. The cause was logged.
    AgentUnusable(String),
    /// An internal failure. The cause was logged.
    Internal {
        /// The affected task, if it exists.
        task: Option<TaskId>,
    },
}

/// The reason why a caller is refused, and the credentials that would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The text for the client. It repeats nothing of the credentials.
    pub message: String,
    /// The challenges of `WWW-Authenticate` (RFC 9110 §11.6.1), without line breaks.
    pub challenges: Vec<String>,
}

impl Error {
    /// An [`Error::InvalidParams`] with one violation.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::InvalidParams(vec![FieldViolation::new(field, description)])
    }

    /// The details of the error: an ErrorInfo, and a BadRequest for wrong parameters and parts.
    pub fn details(&self) -> Vec<Value> {
        let mut info = Map::new();
        info.insert("@type".to_owned(), json!("type.googleapis.com/google.rpc.ErrorInfo"));
        info.insert("reason".to_owned(), json!(self.wire().reason));
        info.insert("domain".to_owned(), json!("a2a-protocol.org"));
        if let Some(id) = self.task() {
            let mut metadata = Map::new();
            metadata.insert("taskId".to_owned(), json!(id));
            if let Self::GenerationMismatch { expected, generation, .. } = self {
                for (name, value) in [("expected", expected), ("generation", generation)] {
                    metadata.insert(name.to_owned(), json!(value.to_string()));
                }
            }
            info.insert("metadata".to_owned(), Value::Object(metadata));
        }
        let mut details = vec![Value::Object(info)];
        if let Some(violations) = self.violations() {
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": violations,
            }));
        }
        details
    }

    /// The wrong fields, if the error is about parameters or parts.
    fn violations(&self) -> Option<&[FieldViolation]> {
        if let Self::WebhookRefused(violation) = self {
            return Some(std::slice::from_ref(violation));
        }
        if let Self::PartNotAccepted(violation) = self {
            return Some(std::slice::from_ref(violation));
        }
        if let Self::InvalidParams(violations) = self { Some(violations) } else { None }
    }

    fn task(&self) -> Option<&TaskId> {
        match self {
            Self::TaskNotFound(id)
            | Self::TaskNotCancelable { id, .. }
            | Self::GenerationMismatch { id, .. } => Some(id),
            Self::Internal { task } => task.as_ref(),
            Self::PushNotificationNotSupported
            | Self::TaskFinished(_)
            | Self::UnsupportedOperation(_)
            | Self::ContentTypeNotSupported(_)
            | Self::PartNotAccepted(_)
            | Self::InvalidAgentResponse(_)
            | Self::ExtendedAgentCardNotConfigured
            | Self::ExtensionSupportRequired(_)
            | Self::VersionNotSupported(_)
            | Self::JsonParse(_)
            | Self::InvalidRequest(_)
            | Self::TooLarge(_)
            | Self::NoRoom(_)
            | Self::BodyIncomplete
            | Self::BodyTimeout
            | Self::TooManyBodies
            | Self::MethodNotFound(_)
            | Self::OtherVersionsName(_)
            | Self::InvalidParams(_)
            | Self::WebhookRefused(_)
            | Self::NotFound(_)
            | Self::MethodNotAllowed(_)
            | Self::TooManyStreams(_)
            | Self::TooManyStreamsOfCaller(_)
            | Self::OverQuota(_)
            | Self::UsedUp(_)
            | Self::Unauthenticated(_)
            | Self::PermissionDenied(_)
            | Self::RateLimited(_)
            | Self::Unavailable(_)
            | Self::NoAgents
            | Self::AgentUnusable(_) => None,
        }
    }
}

impl fmt::Display for Error {
    /// The message for the client: what is wrong, and how to correct it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TaskNotFound(_) => out.write_str("task not found"),
            Self::TaskNotCancelable { state, .. } => {
                write!(out, "the task is {state} and cannot be canceled any more")
            }
            Self::GenerationMismatch { expected, generation, .. } => write!(
                out,
                "the task is at generation {generation}, not {expected}; get it and decide again"
            ),
            Self::PushNotificationNotSupported => {
                out.write_str("push notifications are not supported by this agent")
            }
            Self::TaskFinished(state) => write!(
                out,
                "the task is {state}, which is final; send the message without taskId to begin a new task"
            ),
            Self::UnsupportedOperation(what)
            | Self::ContentTypeNotSupported(what)
            | Self::InvalidAgentResponse(what)
            | Self::VersionNotSupported(what)
            | Self::NotFound(what)
            | Self::NoRoom(what)
            | Self::OtherVersionsName(what) => out.write_str(what),
            Self::ExtendedAgentCardNotConfigured => {
                out.write_str("this agent has no extended card; its card is public")
            }
            Self::ExtensionSupportRequired(uris) => write!(
                out,
                "this agent requires extensions; send the header A2A-Extensions: {}",
                uris.join(", ")
            ),
            Self::JsonParse(what) => write!(out, "the body is not valid JSON: {what}"),
            Self::InvalidRequest(what) => write!(out, "invalid request: {what}"),
            Self::TooLarge(limit) => write!(out, "the body is larger than {limit} bytes"),
            Self::BodyIncomplete => out.write_str("the body broke off before its end"),
            Self::BodyTimeout => out.write_str("the body did not come in time"),
            Self::TooManyBodies => out.write_str(
                "too many bodies are being received; send this one again, without pauses in it",
            ),
            Self::MethodNotFound(method) => write!(out, "there is no method {method:?}"),
            Self::InvalidParams(violations) => write_violations(violations, out),
            Self::WebhookRefused(violation) => {
                write_violations(std::slice::from_ref(violation), out)
            }
            Self::PartNotAccepted(part) => write!(out, "{} {}", part.field, part.description),
            Self::MethodNotAllowed(allowed) => {
                write!(out, "this path does not take that HTTP method; it takes {allowed}")
            }
            Self::TooManyStreams(limit) => {
                write!(out, "the task is followed by {limit} streams, which is the limit")
            }
            Self::TooManyStreamsOfCaller(limit) => write!(
                out,
                "you have {limit} open streams with this agent, which is its limit; close some"
            ),
            Self::OverQuota(Quota::Tasks(limit)) => write!(
                out,
                "you have {limit} unfinished tasks, which is the limit; finish or cancel some, or wait"
            ),
            Self::OverQuota(Quota::AgentTasks(limit)) => write!(
                out,
                "you have {limit} unfinished tasks with this agent, which is its limit; finish or cancel some, or wait"
            ),
            Self::OverQuota(Quota::StoredBytes(limit)) => write!(
                out,
                "your tasks with this agent take the {limit} bytes that it keeps for a caller; delete some (DeleteTask), or wait until they expire"
            ),
            Self::UsedUp(UsedUp { limit: DayLimit::Tokens(limit), seconds }) => write!(
                out,
                "you have used up the {limit} tokens that this agent lets you use in a day (UTC); send this one again in {seconds} seconds"
            ),
            Self::UsedUp(UsedUp { limit: DayLimit::CostMicros(limit), seconds }) => write!(
                out,
                "you have used up the cost of {} that this agent lets you use in a day (UTC); send this one again in {seconds} seconds",
                number_text(*limit as f64 / 1_000_000.0)
            ),
            Self::Unauthenticated(refusal) | Self::PermissionDenied(refusal) => {
                out.write_str(&refusal.message)
            }
            Self::RateLimited(seconds) => {
                write!(out, "too many requests; send this one again in {seconds} seconds")
            }
            Self::Unavailable(what) => out.write_str(what),
            Self::NoAgents => {
                out.write_str("the agents of this build cannot be read; the log says why")
            }
            Self::AgentUnusable(slug) => {
                write!(out, "the agent {slug} is not set up correctly; the log says why")
            }
            Self::Internal { .. } => out.write_str("internal error"),
        }
    }
}

fn write_violations(violations: &[FieldViolation], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_str("invalid parameters: ")?;
    for (index, FieldViolation { field, description }) in violations.iter().enumerate() {
        let separator = if index == 0 { "" } else { "; " };
        let space = if field.is_empty() { "" } else { " " };
        write!(out, "{separator}{field}{space}{description}")?;
    }
    Ok(())
}

impl std::error::Error for Error {}

impl From<Vec<FieldViolation>> for Error {
    fn from(violations: Vec<FieldViolation>) -> Self {
        Self::InvalidParams(violations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_tells_both_generations() {
        let error =
            Error::GenerationMismatch { id: TaskId::new("t").unwrap(), expected: 5, generation: 7 };
        assert_eq!(
            error.details()[0]["metadata"],
            json!({"taskId": "t", "expected": "5", "generation": "7"})
        );
        assert_eq!(
            error.to_string(),
            "the task is at generation 7, not 5; get it and decide again"
        );
    }

    #[test]
    fn wrong_parameters_are_listed() {
        let error = Error::invalid("message.parts", "needs at least one part");
        assert_eq!(
            error.details()[1],
            json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations":
                    [{"field": "message.parts", "description": "needs at least one part"}],
            })
        );
        assert_eq!(error.to_string(), "invalid parameters: message.parts needs at least one part");
    }
}
