//! Following a task emits every event once, for streams in any pieces, for streams that break off, and for polling:
//! properties for scripts of any events.

mod calls;
mod cut;
mod folding;
mod polled;
mod script;
mod streams;
