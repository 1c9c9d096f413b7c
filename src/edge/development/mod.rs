//! What a Worker with `DEVELOPMENT` set has for tests: scripts that can be set.

pub(super) mod script;
