//! What the front Worker, the objects and the jobs have in common.

pub(super) mod clock;
pub(super) mod counters;
pub(super) mod index;
pub(super) mod keys;
pub(super) mod observer;
pub(super) mod outbound;
pub(super) mod random;
pub(super) mod rows;
pub(super) mod secrets;
