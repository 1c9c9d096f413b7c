//! The needs of an agent outside of this Worker.

use crate::port::Target;

/// A resource outside of this Worker that must be reachable for an agent to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The executor reports no need.
    Nothing,
    /// A program at this URL, which may contain secrets.
    Program(String),
    /// A resource that is bound to the Worker.
    Bound(Target),
}
