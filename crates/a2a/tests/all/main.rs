//! The tests of the protocol through its public interface, in one program; `cargo test --test all
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

#[allow(dead_code, reason = "the tests of `client` use the rest")]
mod arbitrary;
mod derived;
mod following;
mod golden;
mod golden_legacy;
mod interop;
mod losses;
mod losses_legacy;
mod misbehaving;
