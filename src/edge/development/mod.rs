//! The lists that a Worker with `DEVELOPMENT` set keeps, for tests.

pub(super) mod received;
mod recent;
pub(super) mod statements;
