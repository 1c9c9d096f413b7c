//! Bytes to operations and outcomes to bytes: the protocol on HTTP. Pure; the caller moves the bytes.

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
