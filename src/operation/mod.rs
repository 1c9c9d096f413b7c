//! The operations of the protocol (spec §3.1), one file each, on a task that is at hand.
//!
//! They know neither HTTP nor JSON-RPC nor Cloudflare: they take decoded requests and a
//! [`TaskSession`], and give outcomes that a binding encodes.

mod call;
mod cancel_task;
pub mod frame;
mod get_task;
pub mod list_tasks;
mod projection;
mod push;
mod push_config;
mod run;
mod send_message;
mod session;
mod stream;
mod terms;

pub use call::{Call, Operation};
pub use cancel_task::cancel_task;
pub use get_task::get_task;
pub use push::{GivenUp, NextNotification, Notification, NotificationTurn};
pub use push_config::manage_webhooks;
pub use send_message::{Sender, send_message};
pub use session::{FindAgent, TaskSession};
pub use stream::{Beginning, Next, send_streaming_message, subscribe_to_task};
pub use terms::Terms;

use std::rc::Rc;

use crate::model::{Message, ShownWebhook};

/// What an operation gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The result of a send: the task as it was when there was nothing more to wait for.
    SentTask(ShownTask),
    /// The result of a send: a message instead of a task.
    SentMessage(Box<Message>),
    /// The task as it was when the operation was done.
    Task(ShownTask),
    /// A webhook of the task.
    PushConfig(Box<ShownWebhook>),
    /// All webhooks of the task.
    PushConfigs(Vec<ShownWebhook>),
    /// A webhook of the task is gone.
    PushConfigDeleted,
    /// How the notifications of a webhook have fared, as JSON.
    Deliveries(String),
}

/// A task as an answer shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTask {
    /// The task as 1.0 JSON.
    pub json: Rc<String>,
    /// The generation that it shows.
    pub generation: u64,
}
