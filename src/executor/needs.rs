//! What an agent needs outside of this Worker.

use crate::port::Target;

/// What has to be there outside of this Worker for an agent to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing that the executor knows of.
    Nothing,
    /// A program behind this URL, which may hold secrets.
    Program(String),
    /// Something that is bound to the Worker.
    Bound(Target),
}
