//! The parts of a Worker with `DEVELOPMENT` set that only tests use: agents whose script can be replaced.

pub(super) mod script;
