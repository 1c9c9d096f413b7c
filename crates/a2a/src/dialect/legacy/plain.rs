//! The plain pair: `POST /a2a/tasks/send` and `GET /a2a/tasks/{id}`. A task is the list of its messages, and parts have no
//! type.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::{ReadCall, Resource, older};
use super::TaskMembers;
use super::params::LegacyMessage;
use super::part::{PartView, text_of};
use super::refusal::text;
use super::view::MessageView;
use crate::error::Error;
use crate::model::decode::{Decode, Fields, decode_with};
use crate::model::{
    Artifact, ContextId, Message, Metadata, Role, SendMessageConfiguration, SendMessageRequest,
    TIMED_OUT, TaskState, TaskStatus, UnixMillis,
};
use crate::wire::http::HttpResponse;
use crate::wire::percent;
use crate::{Call, TaskCall};

/// The resource at a path below an agent, given by the path's segments; `None` if the path does not exist.
pub(in crate::dialect) fn resource(segments: &[&str]) -> Option<Resource> {
    match segments {
        [older::LEGACY_PREFIX, "tasks", "send"] => Some(Resource::Send),
        [older::LEGACY_PREFIX, "tasks", task] => Some(Resource::OlderTask(percent::decode(task))),
        _ => None,
    }
}

/// Decodes the body of `POST /a2a/tasks/send`. The server chooses the id of the task.
///
/// # Errors
///
/// [`Error::InvalidParams`].
pub(super) fn decode(mut params: Value) -> Result<ReadCall, Error> {
    if let Some(message) = params.get_mut("message").filter(|message| message.is_string()) {
        *message = json!({"parts": [{"text": message.take()}]});
    }
    let (request, timeout_ms) = decode_with(params, |fields| {
        let tenant = fields.string("tenant");
        let session = fields.id("sessionId");
        let message = fields.required_object::<Said>("message");
        let timeout_ms = timeout_ms(fields);
        let skill = fields.string("skill");
        let metadata =
            skill.map(|skill| Metadata::from(Map::from_iter([(SKILL.to_owned(), skill.into())])));
        let message = message?.0.of_session(session);
        let configuration = SendMessageConfiguration::default();
        Some((SendMessageRequest { tenant, message, configuration, metadata }, timeout_ms?))
    })?;
    let call = Call::Task(TaskCall::SendMessage(Box::new(request)));
    Ok(ReadCall {
        needs_task: true,
        run_timeout_ms: Some(timeout_ms),
        answer_within_ms: Some(ANSWER_WITHIN_MS),
        ..call.into()
    })
}

/// The time limit for the run, in milliseconds.
fn timeout_ms(fields: &mut Fields) -> Option<u64> {
    // `fields` records a value that is not a number.
    let Some(millis) = fields.integer("timeoutMs") else { return Some(TIMEOUT_MS) };
    let millis = u64::try_from(millis).ok().filter(|millis| *millis > 0);
    if millis.is_none() {
        fields.refuse("timeoutMs", "must be milliseconds, 1 or more");
    }
    millis
}

/// A message whose sender is the client, unless the message contains a role.
struct Said(LegacyMessage);

impl Decode for Said {
    fn decode(fields: &mut Fields) -> Option<Self> {
        LegacyMessage::read(fields, Some(Role::User)).map(Self)
    }
}

/// The encoded form of a task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlainTask<'a> {
    id: &'a str,
    state: &'static str,
    messages: Vec<MessageView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a ContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<UnixMillis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<UnixMillis>,
}

impl<'a> PlainTask<'a> {
    /// The form of a task. `created` is when the task was created, if that is known.
    pub(super) fn of(task: TaskMembers<'a>, created: Option<UnixMillis>) -> Self {
        let TaskMembers { id, context_id, status, artifacts, history, .. } = task;
        let said = history.iter().map(MessageView::plain);
        Self {
            id,
            state: state(status.state),
            messages: said.chain(last_message(status, artifacts)).collect(),
            session_id: context_id,
            created_at: created.or(status.timestamp),
            updated_at: status.timestamp,
        }
    }
}

/// The agent's last message: the text of the status, and the texts of all artifacts. Clients read the result only from this
/// message, so only a task without any result is sent without it.
fn last_message<'a>(status: &'a TaskStatus, artifacts: &'a [Artifact]) -> Option<MessageView<'a>> {
    let TaskStatus { state, message, .. } = status;
    let said = message.as_ref().map(Message::text).filter(|text| !text.is_empty());
    let said = match (said, state) {
        (Some(text), TaskState::Failed) if text.starts_with(TIMED_OUT) => {
            Some(TOLD_TIMED_OUT.into())
        }
        (Some(text), _) => Some(text),
        (None, TaskState::Canceled) => Some("the task was canceled".to_owned()),
        (None, TaskState::Rejected) => Some("the task was rejected".to_owned()),
        (None, _) => None,
    };
    let artifacts = artifacts.iter().flat_map(|artifact| &artifact.parts).filter_map(text_of);
    let texts = said.map(Cow::Owned).into_iter().chain(artifacts);
    let parts: Vec<_> = texts.map(PartView::plain_text).collect();
    let is_due = matches!(state, TaskState::Submitted | TaskState::Working);
    (!parts.is_empty() || !is_due).then(|| MessageView::of_agent(parts))
}

/// The name of a state. A task that was canceled or rejected has failed; its last message contains the reason.
fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed | TaskState::Canceled | TaskState::Rejected => "failed",
        TaskState::InputRequired => "input-required",
        TaskState::AuthRequired => "auth-required",
    }
}

/// The answer with an error: only its text.
pub(in crate::dialect) fn error(error: &Error) -> HttpResponse {
    let wire = error.wire();
    let text = match error {
        Error::TaskNotFound(_) => "Task not found".to_owned(),
        other => text(other),
    };
    HttpResponse::json(wire.http, json!({"error": text}).to_string()).with_headers(wire.headers)
}

/// The default time limit for a run, in milliseconds.
const TIMEOUT_MS: u64 = 300_000;

/// How long the server waits for the end of a task before it answers with the present task, in milliseconds.
const ANSWER_WITHIN_MS: u64 = 250;

/// The text for a client whose run has timed out.
const TOLD_TIMED_OUT: &str = "Task timed out";

/// The member of a task's metadata with the skill in the client's request.
const SKILL: &str = "skill";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Refusal;
    use crate::model::TaskId;

    #[test]
    fn there_are_two_paths() {
        let task = |id: &str| Some(Resource::OlderTask(id.to_owned()));
        for (path, resource) in [
            ("a2a/tasks/send", Some(Resource::Send)),
            ("a2a/tasks/a%2Fb:cancel", task("a/b:cancel")),
            ("a2a/tasks", None),
            ("a2a", None),
            ("a2a/tasks/t/x", None),
            ("tasks/send", None),
        ] {
            let segments: Vec<&str> = path.split('/').collect();
            assert_eq!(super::resource(&segments), resource, "{path}");
        }
    }

    #[test]
    fn an_error_is_its_text_alone() {
        let refusal =
            Refusal { message: "no key".to_owned(), challenges: vec!["Bearer".to_owned()] };
        for (refused, status, body) in [
            (Error::TaskNotFound(TaskId::new("t").unwrap()), 404, r#"{"error":"Task not found"}"#),
            (
                Error::invalid("message", "is required"),
                400,
                r#"{"error":"invalid parameters: message is required"}"#,
            ),
            (Error::Unauthenticated(Box::new(refusal)), 401, r#"{"error":"no key"}"#),
            (Error::Internal { task: None }, 500, r#"{"error":"internal error"}"#),
        ] {
            let answer = error(&refused);
            assert_eq!((answer.status, answer.body.as_str()), (status, body));
            let headers = refused.wire().headers.len() + 1;
            assert_eq!(answer.headers.len(), headers, "{refused:?}");
        }
    }
}
