//! The operations of the protocol (spec §3.1), one file each, on a task that is at hand.
//!
//! They know neither HTTP nor JSON-RPC nor Cloudflare: they take decoded requests and a
//! [`TaskSession`], and give outcomes that a binding encodes.

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

pub use cancel_task::cancel_task;
pub use get_task::get_task;
pub use push::{GivenUp, NextNotification, Notification, NotificationTurn};
pub use push_config::manage_webhooks;
pub use send_message::{Sender, send_message};
pub use session::{FindAgent, TaskSession};
pub use stream::{Beginning, Next, send_streaming_message, subscribe_to_task};
