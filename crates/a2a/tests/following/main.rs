//! Following a task gives every event once, however its stream is cut into pieces, broken off or polled: properties over scripts of
//! any events.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "tests may fail by panicking"
)]

mod calls;
mod cut;
mod folding;
mod polled;
mod script;
mod streams;
