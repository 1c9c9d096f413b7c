//! The operations of the protocol (spec §3.1), one file each, on an open task.
//!
//! The operations do not depend on HTTP, JSON-RPC or Cloudflare. Their arguments are decoded requests and a
//! [`TaskSession`](crate::session::TaskSession), or the [`Owned`](crate::session::Owned) task of the caller; their
//! results are outcomes that a binding encodes.

mod cancel_task;
mod delete_task;
mod get_task;
mod get_task_timeline;
pub mod list_tasks;
pub mod list_webhooks;
mod push_config;
mod send_message;
mod send_streaming_message;
mod subscribe_to_task;

pub use cancel_task::cancel_task;
pub use delete_task::delete_task;
pub use get_task::get_task;
pub use get_task_timeline::get_task_timeline;
pub use push_config::manage_webhooks;
pub use send_message::send_message;
pub use send_streaming_message::send_streaming_message;
pub use subscribe_to_task::subscribe_to_task;
