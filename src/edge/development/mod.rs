//! What a Worker with `DEVELOPMENT` set offers for tests: agents whose script can be replaced.

pub(super) mod script;
