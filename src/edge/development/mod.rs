//! What a Worker with `DEVELOPMENT` set remembers, for tests.

pub(super) mod received;
mod recent;
pub(super) mod statements;
