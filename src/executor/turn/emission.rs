//! The events that an executor can emit.

use a2a::model::{Artifact, Message, Metadata, TaskState};

/// An event that an executor emits.
#[derive(Clone, Debug, PartialEq)]
pub enum Emission {
    /// The task enters a state.
    Status {
        /// The state.
        state: TaskState,
        /// The message of the agent with the new state.
        message: Option<Message>,
        /// The metadata of the event.
        metadata: Option<Metadata>,
    },
    /// An artifact begins, grows or is replaced.
    Artifact {
        /// The artifact or its next chunk.
        artifact: Artifact,
        /// True if `artifact` is a chunk to append.
        append: bool,
        /// True if the artifact is complete.
        last_chunk: bool,
        /// The metadata of the event.
        metadata: Option<Metadata>,
    },
    /// A message instead of a task.
    Reply(Message),
}

impl Emission {
    pub(super) fn artifact(artifact: Artifact, append: bool, last_chunk: bool) -> Self {
        Self::Artifact { artifact, append, last_chunk, metadata: None }
    }
}
