//! The tests of the MCP client through its public interface, in one program; `cargo test --test all
//! MODULE::` runs a single module.
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
