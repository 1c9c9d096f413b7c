//! What an agent needs outside of this Worker.

use crate::port::Target;

/// What must be reachable outside of this Worker for an agent to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The executor reports no need.
    Nothing,
    /// A program at this URL, which may contain secrets.
    Program(String),
    /// A resource that is bound to the Worker.
    Bound(Target),
}
