//! A2A 0.3, which includes 0.2. It has two shapes of the same values: objects with `kind` over JSON-RPC, and the ProtoJSON
//! of its proto over HTTP+JSON, below `/v1`. Clients mix the shapes up, so both are decoded over either binding.
//!
//! | module | content |
//! |---|---|
//! | `ask` | encodes the parameters of operations |
//! | `request` | decodes the parameters of operations |
//! | `message`, `part` | decode messages and parts |
//! | `webhook` | decodes and encodes webhooks |
//! | `view` | encodes tasks, messages and events |
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
use crate::model::{StreamResponse, Task, extend};
use crate::wire::Binding;
pub(super) use ask::asked;
pub(super) use error::{error_text, rest_error};
pub(super) use part::{FILE_MEMBERS, encoded_twice, unmarked};
pub(super) use request::decode;
use view::{ArtifactEventView, MessageView, StatusEventView, TaskView};
use webhook::WebhookView;

/// The shape in which values are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Bare objects, whose member `kind` names their type.
    Kind,
    /// The ProtoJSON of the 0.3 proto: the name of the member that contains a value names its type.
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

    /// The member `kind` of an object, if the shape has it.
    fn kind(self, kind: &'static str) -> Option<&'static str> {
        (self == Self::Kind).then_some(kind)
    }

    /// The name of the member around a value, if the shape has such a member.
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
        Outcome::Deleted => return Ok(None),
        Outcome::Card(json) => Some(json.clone()),
        // 0.3 has no method with these outcomes.
        Outcome::Deliveries(_)
        | Outcome::Timeline(_)
        | Outcome::Webhooks(_)
        | Outcome::ContextDeleted(_) => None,
    };
    json.map(Some).ok_or(Error::Internal { task: None })
}

/// See [`Dialect::notification`](super::Dialect::notification). The shape of notifications does not depend on how the
/// webhook was registered.
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

/// The fields of calls that have another name than in 1.0: the beginning of their path in 1.0, and in this dialect.
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

/// A page of tasks in the form of 1.0.
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

/// A page of tasks in the form of the Go SDK.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageView<'a> {
    tasks: Vec<TaskView<'a>>,
    next_page_token: &'a str,
}

/// Reads JSON that this program has written.
fn read<T: Decode>(json: &str) -> Result<T, Error> {
    read_json(json).map_err(|_| Error::Internal { task: None })
}

/// The JSON of a value, wrapped in an object under the name `member` if there is one. `size` is the approximate size in
/// bytes.
fn encode<T: Serialize>(member: Option<&str>, value: &T, size: usize) -> Option<String> {
    let mut json = String::with_capacity(size + size / 8);
    if let Some(name) = member {
        json += &format!("{{\"{name}\":");
    }
    let mut json = extend(json, value).ok()?;
    if member.is_some() {
        json.push('}');
    }
    Some(json)
}
