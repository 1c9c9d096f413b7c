//! The tests of the client of MCP through its public interface, in one program; a module alone runs by
//! `cargo test --test all MODULE::`.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod client;
mod goldens;
mod misbehaving;
