//! Dialects: the wire forms of the versions of the protocol. Only this module decides in which dialect a request is (spec
//! §3.6).
//!
//! The rest of the program uses calls and outcomes of 1.0. A dialect defines the names of its methods and paths, and the
//! form of its parameters, results, errors and events; the dialect 1.0 sends the existing texts unchanged.
//!
//! | module | content |
//! |---|---|
//! | `v1` | A2A 1.0 |
//! | `v0_3` | A2A 0.3 and 0.2, over JSON-RPC (`kind`) and over HTTP+JSON (below `/v1`) |
//! | `legacy` | the `tasks/send` family of A2A 0.1, and the plain pair `/a2a/tasks/…` |
//! | `mistake` | errors for clients that request another version |
//! | `version` | reads the header `A2A-Version` |
//! | `spoken` | the operation and dialect of a method or a path |
//! | `card` | agent cards for clients of older versions |
//! | `ask` | encodes calls to other agents in their version |
//! | `answer` | decodes answers of other agents in any version |
//!
//! # An older client
//!
//! ```text
//!  tasks/send {"id": "order-17", …}   the name of the method     Spoken::method         legacy
//!                                     the agent speaks it        dialect_for            (tasks/get: the id tells 0.3 from legacy)
//!                                     parameters to 1.0          Dialect::decode        SendMessage, chosen id "order-17", terms
//!    from here on 1.0: command, object of (agent, owner, id), session, operation, executor; frames and rows
//!                                     answer from 1.0            Reply (legacy)         {"id": "order-17", "status": …}
//! ```
//!
//! Inside, the program uses 1.0. A dialect is a folder of `crates/a2a/src/dialect/`. Its readers decode parameters to the
//! calls of 1.0, and report errors with the client's field names. Its writers encode results, events and errors from the 1.0
//! text of operations. `Reply` is sent with the command and contains the transport, the dialect and its habits, so the
//! object encodes the answer for an older client in the same way as any other answer. A call of 1.0 has no additional cost:
//! its text is borrowed, and its method is found before older names are compared.
//!
//! Parameters that exist only in older versions become terms of the call in 1.0: an id that the client has chosen for the
//! task, the longest wait for a send, and whether a subscription to a finished task returns the task.
//!
//! Streams contain 1.0 in their frames for all followers. For an older client, `js/client-stream.js` has each event
//! translated (`streamEvent`, one call into WebAssembly per event), with the state of the stream on which later events
//! depend: artifacts of 0.1 have numbers. The notification for an older webhook is the whole task after the event, replayed
//! from the log.

mod answer;
mod ask;
pub(crate) mod card;
mod legacy;
mod mistake;
pub mod older;
mod spoken;
mod v0_3;
mod v1;
mod version;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::model::decode::{Decode, Fields};
use crate::model::{FieldViolation, StreamResponse, Task, TaskId, UnixMillis};
use crate::wire::http::HttpResponse;
use crate::wire::{Binding, MediaType};
use crate::{Call, Operation, Outcome};
pub(crate) use answer::{Page, Reader};
pub use card::{CardName, OlderFacts, dialect_of_card};
pub use spoken::Spoken;
pub(crate) use v1::paths::{Methods, Resource};
pub(crate) use version::requested_version;

/// A version of the protocol in its wire form. It is stored and sent as the text of [`version`](Self::version); if no text
/// is stored, the version is 1.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// A2A 1.0.
    #[default]
    V1,
    /// A2A 0.3, which includes 0.2.
    V0_3,
    /// A2A 0.1: the `tasks/send` family.
    Legacy,
}

/// The dialects that an agent supports in addition to 1.0, and their habits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialects {
    /// Whether the agent supports 0.3.
    pub v0_3: bool,
    /// Whether the agent supports the `tasks/send` family.
    pub legacy: bool,
    /// The agent's choice for details that older versions leave open.
    pub habits: Habits,
}

impl Dialects {
    /// Only 1.0.
    pub const NONE: Self = Self { v0_3: false, legacy: false, habits: Habits::DEFAULT };
    /// All dialects.
    pub const ALL: Self = Self { v0_3: true, legacy: true, habits: Habits::DEFAULT };

    /// Whether the agent supports this dialect; always true for 1.0.
    pub fn has(&self, dialect: Dialect) -> bool {
        match dialect {
            Dialect::V1 => true,
            Dialect::V0_3 => self.v0_3,
            Dialect::Legacy => self.legacy,
        }
    }
}

/// An agent's choice for details that older versions leave open. Sent with a [`Reply`](crate::binding::Reply).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habits {
    /// True if `fileWithBytes` of A2A 0.3 over HTTP+JSON is encoded once in base64, as in plain ProtoJSON. Otherwise it is
    /// base64 of base64, as the Python and Go SDKs of that version read it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub single_base64: bool,
    /// True if the history of a legacy task contains its statuses instead of its messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub status_history: bool,
}

impl Habits {
    const DEFAULT: Self = Self { single_base64: false, status_history: false };

    /// Whether these are the habits of an agent without settings for them.
    pub fn are_default(&self) -> bool {
        *self == Self::DEFAULT
    }
}

impl Decode for Habits {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            single_base64: fields.boolean("single_base64").unwrap_or_default(),
            status_history: fields.boolean("status_history").unwrap_or_default(),
        })
    }
}

/// A decoded call, with the parameters that exist only in older dialects.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadCall {
    /// The call. The message has an empty id if the dialect has no message ids; the server then makes an id.
    pub call: Call,
    /// For a message: the id that the client has chosen for the task. If such a task exists, the message continues it;
    /// otherwise the message begins a task. The message itself contains no task id in this case.
    pub chosen_id: Option<TaskId>,
    /// True if a task must exist after the message even if the agent answers with a message. False if the client has chosen
    /// the task's id.
    pub needs_task: bool,
    /// The time limit for the run that a message begins, in milliseconds.
    pub run_timeout_ms: Option<u64>,
    /// How long the server waits for the end of the task before it answers with the present task, in milliseconds.
    pub answer_within_ms: Option<u64>,
}

impl From<Call> for ReadCall {
    fn from(call: Call) -> Self {
        let (chosen_id, needs_task) = (None, false);
        Self { call, chosen_id, needs_task, run_timeout_ms: None, answer_within_ms: None }
    }
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::V1, Self::V0_3, Self::Legacy];

    /// The version of the protocol, in the form of agent cards.
    pub const fn version(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V0_3 => "0.3",
            Self::Legacy => "0.1",
        }
    }

    /// Reads a dialect that is stored under this name; 1.0 if nothing is stored. `None` for a dialect that this version of
    /// the program does not know.
    pub fn read(fields: &mut Fields, name: &str) -> Option<Self> {
        let Some(stored) = fields.string(name) else { return Some(Self::V1) };
        let known = Self::ALL.into_iter().find(|known| known.version() == stored);
        if known.is_none() {
            fields.refuse(name, format!("must be a known version of A2A, got {stored:?}"));
        }
        known
    }

    /// Whether this is 1.0, which is not stored.
    pub fn is_v1(&self) -> bool {
        *self == Self::V1
    }

    /// The resource at a path below the URL of an agent, given by the path's segments, and the tenant in the path. `None` if
    /// the path does not exist.
    pub(crate) fn resource<'a>(self, segments: &[&'a str]) -> Option<(Option<&'a str>, Resource)> {
        match self {
            Self::V1 => v1::paths::find(segments),
            Self::V0_3 => v0_3::paths::find(segments).map(|resource| (None, resource)),
            Self::Legacy => legacy::resource(segments).map(|resource| (None, resource)),
        }
    }

    /// Decodes the parameters of a call.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`], with the field names of the dialect.
    pub fn decode(
        self,
        binding: Binding,
        operation: Operation,
        params: Value,
    ) -> Result<ReadCall, Error> {
        match self {
            Self::V1 => operation.decode(params).map(ReadCall::from),
            Self::V0_3 => v0_3::decode(binding, operation, params),
            Self::Legacy => legacy::decode(binding, operation, params),
        }
    }

    /// Replaces the field names of 1.0 in an error about decoded parameters by those of the dialect.
    pub fn named(self, binding: Binding, error: Error) -> Error {
        let names = match self {
            Self::V1 => return error,
            Self::V0_3 => v0_3::field_names(binding),
            Self::Legacy => legacy::FIELD_NAMES,
        };
        let named = |mut violation: FieldViolation| {
            let is_begin = |(begin, _): &&(&str, _)| violation.field.starts_with(begin);
            if let Some((begin, name)) = names.iter().find(is_begin) {
                violation.field.replace_range(..begin.len(), name);
            }
            violation
        };
        match error {
            Error::InvalidParams(found) => {
                Error::InvalidParams(found.into_iter().map(named).collect())
            }
            Error::WebhookRefused(found) => Error::WebhookRefused(named(found)),
            Error::PartNotAccepted(found) => Error::PartNotAccepted(Box::new(named(*found))),
            other => other,
        }
    }

    /// The outcome of an operation, as JSON text in pieces; `None` if the operation has no result. `extensions` are the URIs
    /// of the active ones.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the outcome cannot be encoded.
    pub(crate) fn result<'a>(
        self,
        binding: Binding,
        habits: Habits,
        outcome: &'a Outcome,
        extensions: &[String],
    ) -> Result<Option<Vec<Cow<'a, str>>>, Error> {
        let owned = |json: Option<String>| json.map(|json| vec![Cow::Owned(json)]);
        match self {
            Self::V1 => v1::result(outcome, extensions),
            Self::V0_3 => v0_3::result(binding, habits, outcome).map(owned),
            Self::Legacy => legacy::result(binding, habits, outcome).map(owned),
        }
    }

    /// The body of a notification about an event, which is given as the JSON of a StreamResponse of 1.0 (spec §4.3.3). Older
    /// dialects send the task after the event, which `task` returns. `now` is when the notification is made. `None` if
    /// `task` returns no task.
    pub fn notification<'a>(
        self,
        event: &'a str,
        task: impl FnOnce() -> Option<Task>,
        now: UnixMillis,
    ) -> Option<Cow<'a, str>> {
        match self {
            Self::V1 => Some(Cow::Borrowed(event)),
            Self::V0_3 => v0_3::notification(&task()?).map(Cow::Owned),
            Self::Legacy => legacy::notification(event, &task()?, now).map(Cow::Owned),
        }
    }

    /// The JSON-RPC code of an error.
    pub(crate) fn error_code(self, error: &Error) -> i32 {
        match self {
            Self::V1 | Self::V0_3 => error.wire().code,
            Self::Legacy => legacy::error_code(error),
        }
    }

    /// Replaces the field names of 1.0 in an error that the task has returned by those of the dialect; 0.3 uses the names of
    /// 1.0 in these errors.
    pub(crate) fn named_late(self, binding: Binding, error: &Error) -> Cow<'_, Error> {
        match self {
            Self::V1 | Self::V0_3 => Cow::Borrowed(error),
            Self::Legacy => Cow::Owned(self.named(binding, error.clone())),
        }
    }

    /// The JSON-RPC message of an error.
    pub(crate) fn error_text(self, error: &Error) -> String {
        match self {
            Self::V1 => error.to_string(),
            Self::V0_3 => v0_3::error_text(error),
            Self::Legacy => legacy::error_text(error),
        }
    }

    /// The JSON-RPC data of an error.
    pub(crate) fn error_data(self, error: &Error) -> Value {
        match self {
            Self::V1 | Self::V0_3 => error.details().into(),
            Self::Legacy => legacy::error_data(error),
        }
    }

    /// The answer with an error over HTTP+JSON.
    pub(crate) fn rest_error(self, error: &Error) -> HttpResponse {
        match self {
            Self::V1 => HttpResponse::error(error),
            Self::V0_3 => v0_3::rest_error(error),
            Self::Legacy => legacy::rest_error(error),
        }
    }

    /// The header that lists the active extensions.
    pub(crate) fn extensions_header(self) -> &'static str {
        match self {
            Self::V1 => "a2a-extensions",
            Self::V0_3 | Self::Legacy => "x-a2a-extensions",
        }
    }

    /// Whether a subscription to a task that has ended returns the task; 1.0 refuses it (spec §3.1.6).
    pub fn shows_ended_tasks(self) -> bool {
        !self.is_v1()
    }

    /// Whether canceling a canceled task is an error (0.3 §8.2); 1.0 returns the task (spec §3.1.5).
    pub fn refuses_second_cancel(self) -> bool {
        self == Self::V0_3
    }

    /// Whether a stream can continue after the event in `Last-Event-ID`. Legacy clients identify artifacts by numbers, which
    /// depend on all earlier events.
    pub fn resumes_by_event(self) -> bool {
        self != Self::Legacy
    }

    /// Whether a task is sent with the history of its statuses, by an agent with these habits.
    pub fn shows_statuses(self, habits: Habits) -> bool {
        self == Self::Legacy && habits.status_history
    }

    /// Whether a task has at most one webhook without an id, so that a new one replaces the old one. Clients of older
    /// dialects read it without an id.
    pub fn has_one_unnamed_webhook(self) -> bool {
        !self.is_v1()
    }

    /// The media type of the dialect's notifications.
    pub fn notification_type(self) -> MediaType {
        match self {
            Self::V1 => MediaType::A2aJson,
            Self::V0_3 | Self::Legacy => MediaType::Json,
        }
    }

    /// Whether the token of a webhook is also sent as a bearer token, unless the client has configured another value of
    /// the header `Authorization`.
    pub fn bears_tokens(self) -> bool {
        self == Self::Legacy
    }
}

/// The state of a stream in an older dialect, on which later events depend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamState {
    /// The ids of the task's artifacts, in the order of their numbers: artifacts of legacy streams have numbers.
    pub artifacts: Vec<String>,
}

/// The translation of an event for a stream of an older dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamPiece {
    /// The frames in order: the name (`event:`), if there is one, and the JSON.
    pub(crate) frames: Vec<(Option<&'static str>, String)>,
    /// Whether the event ends the stream.
    pub(crate) is_last: bool,
}

impl Dialect {
    /// Translates an event for a stream of this dialect; `None` for 1.0, which sends events unchanged.
    pub(crate) fn piece(
        self,
        binding: Binding,
        habits: Habits,
        event: &StreamResponse,
        state: &mut StreamState,
    ) -> Option<StreamPiece> {
        match self {
            Self::V1 => None,
            Self::V0_3 => v0_3::piece(binding, habits, event),
            Self::Legacy => legacy::piece(event, state),
        }
    }
}

impl Serialize for Dialect {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.version())
    }
}

/// The operation of a JSON-RPC method, of any version.
pub fn operation_of_method(method: &str) -> Option<Operation> {
    v1::operation(method).or_else(|| older::method(method).map(|(_, operation, _)| operation))
}

/// Whether a path of the server that begins with this segment belongs to the default agent, in any dialect. Such a segment
/// cannot be the name of an agent.
pub fn begins_path(segment: &str) -> bool {
    v1::paths::begins(segment) || older::PREFIXES.contains(&segment)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::decode::decode_with;

    #[test]
    fn errors_name_fields_as_the_dialect_does() {
        use Binding::{JsonRpc, Rest};
        let webhook = "configuration.taskPushNotificationConfig.url";
        for (dialect, binding, field, named) in [
            (Dialect::V1, Rest, webhook, webhook),
            (Dialect::V1, Rest, "url", "url"),
            (Dialect::V0_3, JsonRpc, webhook, "configuration.pushNotificationConfig.url"),
            (Dialect::V0_3, Rest, webhook, "configuration.pushNotification.url"),
            (Dialect::V0_3, JsonRpc, "url", "pushNotificationConfig.url"),
            (Dialect::V0_3, JsonRpc, "message.parts[1]", "message.parts[1]"),
            (Dialect::V0_3, Rest, "message.parts[1]", "message.content[1]"),
            (Dialect::Legacy, JsonRpc, webhook, "pushNotification.url"),
            (Dialect::Legacy, JsonRpc, "url", "pushNotificationConfig.url"),
            (Dialect::Legacy, JsonRpc, "message.contextId", "sessionId"),
            (Dialect::Legacy, Rest, "configuration.acceptedOutputModes", "acceptedOutputModes"),
        ] {
            let expected = Error::invalid(named, "is wrong");
            assert_eq!(dialect.named(binding, Error::invalid(field, "is wrong")), expected);
        }
        let refused = |field| Error::WebhookRefused(FieldViolation::new(field, "is wrong"));
        let named = Dialect::V0_3.named(JsonRpc, refused("url"));
        assert_eq!(named, refused("pushNotificationConfig.url"));
    }

    #[test]
    fn what_was_stored_without_a_dialect_is_1_0() {
        for (stored, read) in [
            (json!({}), Ok(Dialect::V1)),
            (json!({"dialect": "1.0"}), Ok(Dialect::V1)),
            (json!({"dialect": "0.3"}), Ok(Dialect::V0_3)),
            (json!({"dialect": "0.1"}), Ok(Dialect::Legacy)),
            (json!({"dialect": "7.0"}), Err("must be a known version of A2A, got \"7.0\"")),
        ] {
            let found = decode_with(stored, |fields| Dialect::read(fields, "dialect"));
            assert_eq!(
                found.map_err(|found| found[0].description.clone()),
                read.map_err(str::to_owned)
            );
        }
    }
}
