//! Every failure that the protocol names, with its text for the client; [`wire`](self) holds the one table
//! that puts it on the wire (spec §3.3.2, §5.4).

mod wire;

use std::fmt;

use serde_json::{Map, Value, json};

use crate::model::{FieldViolation, TaskId, TaskState};
use crate::terms::{DayLimit, UsedUp};
pub use wire::Wire;

/// A refused request, or one that could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such task for this caller.
    TaskNotFound(TaskId),
    /// The task has ended and cannot be canceled.
    TaskNotCancelable {
        /// The task.
        id: TaskId,
        /// How it ended.
        state: TaskState,
    },
    /// The task is not at the generation that the call was to find it at.
    GenerationMismatch {
        /// The task.
        id: TaskId,
        /// The generation that the caller expects.
        expected: u64,
        /// The one that the task is at.
        generation: u64,
    },
    /// The agent sends no webhooks.
    PushNotificationNotSupported,
    /// The task has ended and takes no more messages.
    TaskFinished(TaskState),
    /// The agent does not offer this, or not for this task.
    UnsupportedOperation(String),
    /// The body is of a media type that is not taken.
    ContentTypeNotSupported(String),
    /// A part of a message is of a media type that the agent does not take.
    PartNotAccepted(Box<FieldViolation>),
    /// The agent broke the protocol.
    InvalidAgentResponse(String),
    /// The agent offers an extended card, and has none.
    ExtendedAgentCardNotConfigured,
    /// A message must come with these extensions (their URIs) in use.
    ExtensionSupportRequired(Vec<String>),
    /// This version of the protocol is not spoken here.
    VersionNotSupported(String),
    /// The body is not JSON.
    JsonParse(String),
    /// The body is JSON, but no request.
    InvalidRequest(String),
    /// The body is larger than this many bytes.
    TooLarge(usize),
    /// There is no room for the body where it was to be kept, for this reason.
    NoRoom(String),
    /// The body broke off before its end.
    BodyIncomplete,
    /// The body did not come in time.
    BodyTimeout,
    /// The bodies that come in at the moment need more memory than there is for them, and this one gave way.
    TooManyBodies,
    /// There is no such method.
    MethodNotFound(String),
    /// The name is one of another version than the request asks for; the sentence says of which.
    OtherVersionsName(String),
    /// Parameters that do not fit.
    InvalidParams(Vec<FieldViolation>),
    /// The URL of a webhook leads to where notifications may not go.
    WebhookRefused(FieldViolation),
    /// Nothing is served at this path.
    NotFound(String),
    /// The path does not take this HTTP method; these it takes.
    MethodNotAllowed(&'static str),
    /// The task is followed by as many streams as it may be.
    TooManyStreams(usize),
    /// The caller has as many unfinished tasks as it may have.
    TooManyTasks(u64),
    /// The caller has used up what it may use in a day.
    UsedUp(UsedUp),
    /// The request needs credentials, or those that it has are refused.
    Unauthenticated(Box<Refusal>),
    /// The caller may not do this.
    PermissionDenied(Box<Refusal>),
    /// More requests came than a guard lets through; the same may pass after this many seconds.
    RateLimited(u32),
    /// What is needed for this is not there at the moment. The cause went to the log.
    Unavailable(&'static str),
    /// What the build embedded of the agents cannot be read. The cause went to the log.
    NoAgents,
    /// The agent of this slug cannot run: its executor could not be made. The cause went to the log.
    AgentUnusable(String),
    /// Something broke on our side. The cause went to the log.
    Internal {
        /// The task that was touched, if it exists.
        task: Option<TaskId>,
    },
}

/// Why a caller is refused, and what would be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For the client. It repeats nothing of the credentials.
    pub message: String,
    /// The challenges of `WWW-Authenticate` (RFC 9110 §11.6.1), without line breaks.
    pub challenges: Vec<String>,
}

impl Error {
    /// An [`Error::InvalidParams`] with one violation.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::InvalidParams(vec![FieldViolation::new(field, description)])
    }

    /// The details that go with the error: an ErrorInfo, and a BadRequest for wrong parameters and parts.
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

    /// What is wrong with the parameters, if that is the error.
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
            | Self::TooManyTasks(_)
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
    /// The message for the client: what is wrong, and what to do about it.
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
            Self::TooManyTasks(limit) => write!(
                out,
                "you have {limit} unfinished tasks, which is the limit; finish or cancel some, or wait"
            ),
            Self::UsedUp(UsedUp { limit: DayLimit::Tokens(limit), seconds }) => write!(
                out,
                "you have used up the {limit} tokens that this agent lets you use in a day (UTC); send this one again in {seconds} seconds"
            ),
            Self::UsedUp(UsedUp { limit: DayLimit::CostMicros(limit), seconds }) => write!(
                out,
                "you have used up the cost of {} that this agent lets you use in a day (UTC); send this one again in {seconds} seconds",
                *limit as f64 / 1_000_000.0
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
        let error = Error::GenerationMismatch { id: TaskId::new("t"), expected: 5, generation: 7 };
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
