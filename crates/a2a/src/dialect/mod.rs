//! Dialects: the versions of the protocol as they differ on the wire. Which one a request speaks is decided here
//! and nowhere else (spec §3.6).
//!
//! Everything inside works with calls and outcomes in the words of 1.0. A dialect has the names of its methods
//! and paths, and the form of its parameters, results, errors and events; 1.0 gives the texts that it gets as they are.
//!
//! | module | what is spoken |
//! |---|---|
//! | `v1` | A2A 1.0 |
//! | `v0_3` | A2A 0.3 and 0.2, over JSON-RPC (`kind`) and over HTTP+JSON (below `/v1`) |
//! | `legacy` | the `tasks/send` family of A2A 0.1, and the plain pair `/a2a/tasks/…` |
//! | `mistake` | what clients are told that ask for another version than that |
//! | `version` | what the header `A2A-Version` allows |
//! | `spoken` | what the name of a method or a path says |
//! | `card` | agent cards for clients of older versions |
//! | `ask` | calls of other agents, written in their version |
//! | `answer` | what other agents answer, read in whatever version |
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
//! 1.0 is the inner language. A dialect is a folder of `crates/a2a/src/dialect/`: parameters are read into the calls of 1.0 by readers that name fields in the client's words, and results, events and errors are written from the 1.0 text that operations
//! give. `Reply` travels with the command and has the transport, the dialect and its habits, so the object writes the answer of an older client as it does that of any other. A call of 1.0 pays nothing: its text is borrowed, and its
//! method is found before any older name is looked for.
//!
//! What only an older version can say becomes a term in the words of 1.0: an id that the client chose, how long to wait for a send, that a finished task is shown to those who subscribe to it.
//!
//! Streams carry 1.0 in their frames for all followers alike. For an older client `js/client-stream.js` has each event worded (`streamEvent`, one crossing an event), with what was told before as far as later events depend on it:
//! artifacts of 0.1 have numbers. The notification of an older webhook is the whole task as it was after the event, replayed from the log.

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

/// A version of the protocol as it is spoken on the wire. Stored and sent by [`version`](Self::version); where
/// nothing is stored it is 1.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// A2A 1.0.
    #[default]
    V1,
    /// A2A 0.3, of which 0.2 is a part.
    V0_3,
    /// A2A 0.1: the `tasks/send` family.
    Legacy,
}

/// The dialects that an agent speaks besides 1.0, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialects {
    /// Whether it speaks 0.3.
    pub v0_3: bool,
    /// Whether it speaks the `tasks/send` family.
    pub legacy: bool,
    /// How it writes what those versions leave open.
    pub habits: Habits,
}

impl Dialects {
    /// 1.0 alone.
    pub const NONE: Self = Self { v0_3: false, legacy: false, habits: Habits::DEFAULT };
    /// All that there are.
    pub const ALL: Self = Self { v0_3: true, legacy: true, habits: Habits::DEFAULT };

    /// Whether this dialect is among them; 1.0 always is.
    pub fn has(&self, dialect: Dialect) -> bool {
        match dialect {
            Dialect::V1 => true,
            Dialect::V0_3 => self.v0_3,
            Dialect::Legacy => self.legacy,
        }
    }
}

/// How an agent writes what older versions leave open. Travels with a [`Reply`](crate::binding::Reply).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habits {
    /// Whether `fileWithBytes` of A2A 0.3 over HTTP+JSON is base64 once, as plain ProtoJSON has it. Otherwise it is base64 of
    /// base64, as the SDKs for Python and Go of that version read it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub single_base64: bool,
    /// Whether the history of a legacy task is its statuses instead of its messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub status_history: bool,
}

impl Habits {
    const DEFAULT: Self = Self { single_base64: false, status_history: false };

    /// Whether they are those of agents that say nothing about it.
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

/// A call as a dialect reads it, with what only older dialects say in their parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadCall {
    /// The call. Its message has an empty id if the dialect knows none: the server makes one.
    pub call: Call,
    /// For a message: the id that the client chose for its task. The task goes on if it exists, and begins otherwise. The
    /// message itself names no task then.
    pub chosen_id: Option<TaskId>,
    /// Whether what a message begins is a task that can be asked for even where the agent answers with a message, and no client
    /// has chosen its id.
    pub needs_task: bool,
    /// How long the run that a message begins may take, in milliseconds.
    pub run_timeout_ms: Option<u64>,
    /// How long a message is waited for before the task is answered as it is, in milliseconds.
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

    /// The version of the protocol, as cards name it.
    pub const fn version(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V0_3 => "0.3",
            Self::Legacy => "0.1",
        }
    }

    /// Reads a dialect as it was stored under this name, 1.0 if none was. `None` for one that this version
    /// of the program does not know.
    pub fn read(fields: &mut Fields, name: &str) -> Option<Self> {
        let Some(stored) = fields.string(name) else { return Some(Self::V1) };
        let known = Self::ALL.into_iter().find(|known| known.version() == stored);
        if known.is_none() {
            fields.refuse(name, format!("must be a known version of A2A, got {stored:?}"));
        }
        known
    }

    /// Whether it is 1.0, which needs not be stored.
    pub fn is_v1(&self) -> bool {
        *self == Self::V1
    }

    /// What stands at a path below the URL of an agent, given by its segments, and the tenant that the path names. `None` if
    /// nothing stands there.
    pub(crate) fn resource<'a>(self, segments: &[&'a str]) -> Option<(Option<&'a str>, Resource)> {
        match self {
            Self::V1 => v1::paths::find(segments),
            Self::V0_3 => v0_3::paths::find(segments).map(|resource| (None, resource)),
            Self::Legacy => legacy::resource(segments).map(|resource| (None, resource)),
        }
    }

    /// Reads the parameters of a call.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`], with the fields as the dialect names them.
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

    /// An error about parameters that were read, with the fields as the dialect names them.
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

    /// What an operation gave, as JSON text in pieces; `None` if it gives nothing. `extensions` are the URIs of
    /// those in use.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it cannot be encoded.
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
    /// dialects send the task as it was after the event, which `task` gives. `now` is when the notification is made. `None` if
    /// the task cannot be had.
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

    /// The code of an error over JSON-RPC.
    pub(crate) fn error_code(self, error: &Error) -> i32 {
        match self {
            Self::V1 | Self::V0_3 => error.wire().code,
            Self::Legacy => legacy::error_code(error),
        }
    }

    /// An error of the task, with the fields as the dialect names them. Those of 0.3 have the names of 1.0 there.
    pub(crate) fn named_late(self, binding: Binding, error: &Error) -> Cow<'_, Error> {
        match self {
            Self::V1 | Self::V0_3 => Cow::Borrowed(error),
            Self::Legacy => Cow::Owned(self.named(binding, error.clone())),
        }
    }

    /// The message of an error over JSON-RPC.
    pub(crate) fn error_text(self, error: &Error) -> String {
        match self {
            Self::V1 => error.to_string(),
            Self::V0_3 => v0_3::error_text(error),
            Self::Legacy => legacy::error_text(error),
        }
    }

    /// The data of an error over JSON-RPC.
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

    /// The header that names the extensions in use.
    pub(crate) fn extensions_header(self) -> &'static str {
        match self {
            Self::V1 => "a2a-extensions",
            Self::V0_3 | Self::Legacy => "x-a2a-extensions",
        }
    }

    /// Whether subscribing to a task that has ended gives the task; 1.0 refuses it (spec §3.1.6).
    pub fn shows_ended_tasks(self) -> bool {
        !self.is_v1()
    }

    /// Whether canceling a task that is canceled is refused (0.3 §8.2); 1.0 answers the task (spec §3.1.5).
    pub fn refuses_second_cancel(self) -> bool {
        self == Self::V0_3
    }

    /// Whether a stream can go on from the event that the client names by `Last-Event-ID`. A legacy client knows artifacts by
    /// numbers, which depend on all that was told before.
    pub fn resumes_by_event(self) -> bool {
        self != Self::Legacy
    }

    /// Whether a task is shown with the statuses that it has had, by an agent of these habits.
    pub fn shows_statuses(self, habits: Habits) -> bool {
        self == Self::Legacy && habits.status_history
    }

    /// Whether a task has one webhook of those that are registered without an id, of which each takes the place of the one
    /// before. Clients of older dialects ask for it without naming it.
    pub fn has_one_unnamed_webhook(self) -> bool {
        !self.is_v1()
    }

    /// The media type of its notifications.
    pub fn notification_type(self) -> MediaType {
        match self {
            Self::V1 => MediaType::A2aJson,
            Self::V0_3 | Self::Legacy => MediaType::Json,
        }
    }

    /// Whether the token of a webhook also goes along as a bearer token, where the client has configured nothing else for the
    /// header `Authorization`.
    pub fn bears_tokens(self) -> bool {
        self == Self::Legacy
    }
}

/// What was already told on a stream of an older dialect, as far as later events depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamState {
    /// The ids of the artifacts of the task, in their order: artifacts of legacy streams have numbers.
    pub artifacts: Vec<String>,
}

/// What an event comes to on a stream of an older dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamPiece {
    /// The name of the frame (`event:`), if it has one, and its JSON, in order.
    pub(crate) frames: Vec<(Option<&'static str>, String)>,
    /// Whether the stream ends with it.
    pub(crate) is_last: bool,
}

impl Dialect {
    /// What an event comes to on a stream of this dialect; never asked of 1.0, which sends events as they are.
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

/// The operation of a JSON-RPC method, in whichever version it has that name.
pub fn operation_of_method(method: &str) -> Option<Operation> {
    v1::operation(method).or_else(|| older::method(method).map(|(_, operation, _)| operation))
}

/// Whether a path of the whole server that begins with this segment belongs to its default agent, in any
/// dialect. No agent can have such a name.
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
