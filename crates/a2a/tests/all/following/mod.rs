//! Following a task gives every event once, however its stream is cut into pieces, broken off or polled: properties over scripts of
//! any events.

mod calls;
mod cut;
mod folding;
mod polled;
mod script;
mod streams;
