//! What an executor says: one verb of the protocol with its contents.

use a2a::model::{Artifact, Message, Metadata, TaskState};

/// Something an executor says.
#[derive(Clone, Debug, PartialEq)]
pub enum Emission {
    /// The task enters a state.
    Status {
        /// The state.
        state: TaskState,
        /// What the agent says with it.
        message: Option<Message>,
        /// The metadata of the event.
        metadata: Option<Metadata>,
    },
    /// An artifact begins, grows or is replaced.
    Artifact {
        /// The artifact or its next chunk.
        artifact: Artifact,
        /// Whether it is a chunk.
        append: bool,
        /// Whether the artifact is complete.
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
