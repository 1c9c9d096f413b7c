//! The parts that all dialects and bindings use: HTTP answers, media types, percent-encoding, envelopes of JSON-RPC, and the
//! text of event streams. They do not depend on a dialect or binding. [`binding`](crate::binding) exports them to other
//! crates.

mod header;
pub mod http;
pub mod json;
pub mod jsonrpc;
pub mod media_type;
pub mod percent;
pub mod sse;

pub use media_type::MediaType;

/// The transport of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// JSON-RPC (spec §9).
    JsonRpc,
    /// HTTP+JSON (spec §11).
    Rest,
}
