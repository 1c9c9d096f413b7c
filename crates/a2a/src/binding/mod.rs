//! The protocol on HTTP: decodes bytes to operations and encodes outcomes to bytes. Pure; the caller
//! transfers the bytes.

pub mod discovery;
pub mod extensions;
mod plain_read;
mod reply;
pub mod rest;
mod service_parameters;

pub use crate::wire::{Binding, MediaType, http, json, jsonrpc, media_type, percent, sse};
pub use plain_read::PlainRead;
pub use reply::{Reply, StreamText};
pub use service_parameters::{MAX_KEY_CHARS, ServiceParameters};
