//! A2A 0.3, of which 0.2 is a part. It has two shapes of the same values: objects with `kind` over JSON-RPC, and the ProtoJSON of its
//! proto over HTTP+JSON, below `/v1`. Clients mix them up, so both are read over either binding.
//!
//! | module | what is in it |
//! |---|---|
//! | `ask` | the parameters of operations, as clients write them |
//! | `request` | the same, read |
//! | `message`, `part` | messages and parts, read |
//! | `webhook` | webhooks, read and written |
//! | `view` | tasks, messages and events, written |
//! | `error` | errors |
//! | `paths` | the paths below `/v1` |

mod ask;
mod error;
mod message;
mod part;
pub(super) mod paths;
mod request;
mod view;
mod webhook;

use serde::Serialize;

use super::{Habits, StreamPiece};
use crate::Outcome;
use crate::error::Error;
use crate::model::decode::{Decode, Fields, read_json};
use crate::model::{StreamResponse, Task};
use crate::wire::Binding;
pub(super) use ask::asked;
pub(super) use error::{error_text, rest_error};
pub(super) use part::{FILE_MEMBERS, encoded_twice, unmarked};
pub(super) use request::decode;
use view::{ArtifactEventView, MessageView, StatusEventView, TaskView};
use webhook::WebhookView;

/// In which shape values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Objects say by `kind` what they are, and stand bare.
    Kind,
    /// The ProtoJSON of the 0.3 proto: the name of a member says what it is.
    Proto {
        /// See [`Habits::single_base64`].
        single_base64: bool,
    },
}

impl Shape {
    fn of(binding: Binding, habits: Habits) -> Self {
        match binding {
            Binding::JsonRpc => Self::Kind,
            Binding::Rest => Self::Proto { single_base64: habits.single_base64 },
        }
    }

    /// What an object is, where it says so itself.
    fn kind(self, kind: &'static str) -> Option<&'static str> {
        (self == Self::Kind).then_some(kind)
    }

    /// What a member is named, where its name says what it is.
    fn member(self, name: &'static str) -> Option<&'static str> {
        (self != Self::Kind).then_some(name)
    }
}

/// See [`Dialect::result`](super::Dialect::result).
pub(super) fn result(
    binding: Binding,
    habits: Habits,
    outcome: &Outcome,
) -> Result<Option<String>, Error> {
    let shape = Shape::of(binding, habits);
    let json = match outcome {
        Outcome::SentTask(shown) => {
            let task: Task = read(&shown.json)?;
            encode(shape.member("task"), &TaskView::new(shape, &task), shown.json.len())
        }
        Outcome::Task(shown) => {
            let task: Task = read(&shown.json)?;
            encode(None, &TaskView::new(shape, &task), shown.json.len())
        }
        Outcome::SentMessage(message) => {
            encode(shape.member("message"), &MessageView::new(shape, message), 0)
        }
        Outcome::Tasks(json) => {
            let page: Page = read(json)?;
            let tasks: Vec<_> = page.tasks.iter().map(|task| TaskView::new(shape, task)).collect();
            encode(None, &PageView { tasks, next_page_token: &page.next_page_token }, json.len())
        }
        Outcome::PushConfig(shown) => encode(None, &WebhookView::new(shape, &shown.config), 0),
        Outcome::PushConfigs(shown) => {
            let view = |shown| WebhookView::new(shape, shown);
            let configs: Vec<_> = shown.iter().map(|shown| view(&shown.config)).collect();
            match shape {
                Shape::Kind => encode(None, &configs, 0),
                Shape::Proto { .. } => encode(Some("configs"), &configs, 0),
            }
        }
        Outcome::PushConfigDeleted => return Ok(None),
        Outcome::Card(json) => Some(json.clone()),
        // No name of 0.3 asks for them.
        Outcome::Deliveries(_) | Outcome::Timeline(_) | Outcome::Webhooks(_) => None,
    };
    json.map(Some).ok_or(Error::Internal { task: None })
}

/// See [`Dialect::notification`](super::Dialect::notification). Notifications have one shape, however the webhook was registered.
pub(super) fn notification(task: &Task) -> Option<String> {
    encode(None, &TaskView::new(Shape::Kind, task), 0)
}

/// See [`Dialect::piece`](super::Dialect::piece).
pub(super) fn piece(
    binding: Binding,
    habits: Habits,
    event: &StreamResponse,
) -> Option<StreamPiece> {
    let shape = Shape::of(binding, habits);
    let (json, is_last) = match event {
        StreamResponse::Task(task) => (
            encode(shape.member("task"), &TaskView::new(shape, task), 0),
            view::is_final(task.status.state),
        ),
        StreamResponse::Message(message) => {
            (encode(shape.member("message"), &MessageView::new(shape, message), 0), true)
        }
        StreamResponse::StatusUpdate(event) => (
            encode(shape.member("statusUpdate"), &StatusEventView::new(shape, event), 0),
            view::is_final(event.status.state),
        ),
        StreamResponse::ArtifactUpdate(event) => (
            encode(shape.member("artifactUpdate"), &ArtifactEventView::new(shape, event), 0),
            false,
        ),
    };
    Some(StreamPiece { frames: vec![(None, json?)], is_last })
}

/// The fields of calls that have other names than in 1.0: how their paths begin there, and how here.
pub(super) fn field_names(binding: Binding) -> &'static [(&'static str, &'static str)] {
    match binding {
        Binding::JsonRpc => &[
            ("configuration.taskPushNotificationConfig", "configuration.pushNotificationConfig"),
            ("url", "pushNotificationConfig.url"),
        ],
        Binding::Rest => &[
            ("configuration.taskPushNotificationConfig", "configuration.pushNotification"),
            ("url", "pushNotificationConfig.url"),
            ("message.parts", "message.content"),
        ],
    }
}

/// A page of tasks as 1.0 has it.
struct Page {
    tasks: Vec<Task>,
    next_page_token: String,
}

impl Decode for Page {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let next_page_token = fields.string("nextPageToken").unwrap_or_default();
        Some(Self { tasks: fields.list("tasks")?, next_page_token })
    }
}

/// A page of tasks, in the shape of the SDK for Go.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageView<'a> {
    tasks: Vec<TaskView<'a>>,
    next_page_token: &'a str,
}

/// Reads JSON of our own.
fn read<T: Decode>(json: &str) -> Result<T, Error> {
    read_json(json).map_err(|_| Error::Internal { task: None })
}

/// The JSON of a value, as the one member of an object if it is given a name. `size` is about how large it will be, in bytes.
fn encode<T: Serialize>(member: Option<&str>, value: &T, size: usize) -> Option<String> {
    let mut json = Vec::with_capacity(size + size / 8);
    if let Some(name) = member {
        json.extend_from_slice(format!("{{\"{name}\":").as_bytes());
    }
    serde_json::to_writer(&mut json, value).ok()?;
    if member.is_some() {
        json.push(b'}');
    }
    String::from_utf8(json).ok()
}
