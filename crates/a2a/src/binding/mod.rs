//! Bytes to operations and outcomes to bytes: the protocol on HTTP. Pure; `edge` moves the bytes.

pub mod discovery;
pub mod extensions;
pub mod http;
pub mod json;
pub mod jsonrpc;
pub mod media_type;
pub mod percent;
mod plain_read;
mod reply;
pub mod rest;
mod service_parameters;
pub mod sse;

/// What carries requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// JSON-RPC (spec §9).
    JsonRpc,
    /// HTTP+JSON (spec §11).
    Rest,
}

pub use media_type::MediaType;
pub use plain_read::PlainRead;
pub use reply::{Reply, StreamText};
pub use service_parameters::{MAX_KEY_CHARS, ServiceParameters};
