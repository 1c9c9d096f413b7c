//! Requests as servers receive them, and answers in the forms that servers write: that of OpenAI's documentation, and those
//! of other servers.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests may fail by panicking"
)]

mod answers;
mod failures;
mod quirks;
mod requests;
mod splits;
mod support;
mod workers_ai;
