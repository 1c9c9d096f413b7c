//! Cloudflare: the front Worker, the task objects, their storage, and the typed bindings. All code
//! that names the platform lives here; it carries out what the other modules decide.

mod bindings;
mod body;
mod bridge;
mod command;
mod consumer;
mod counters;
mod followers;
mod front;
mod index;
mod jwt;
mod link;
mod listing;
mod outbound;
mod platform;
mod prune;
mod received;
mod recent;
mod request;
mod response;
mod rows;
mod statements;
mod target;
mod task_object;
mod task_store;
mod webhook;

pub use consumer::consume;
pub use front::handle;
pub use prune::prune;
pub use task_object::TaskObject;
