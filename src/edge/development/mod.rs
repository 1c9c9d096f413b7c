//! What a Worker with `DEVELOPMENT` set has for tests: lists of what happened, and scripts that can be set.

pub(super) mod received;
mod recent;
pub(super) mod script;
