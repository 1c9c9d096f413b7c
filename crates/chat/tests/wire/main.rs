//! Requests as servers get them, and answers as servers write them: after the description of OpenAI's API, and after what other
//! servers do otherwise.

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
