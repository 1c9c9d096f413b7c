//! What a delegation comes to, as the model is told.

use a2a::client::{Delegated, Observed};
use a2a::model::{Artifact, Message, Part, PartContent};

/// The line for a delegation that cannot be made, for this reason.
pub(super) fn refused(reason: impl Into<String>) -> String {
    Delegated::Refused(reason.into()).to_string()
}

/// The line for what an agent came to, and the parts of its artifacts and of its newest message that a model cannot read.
pub(super) fn told(observed: Observed) -> (String, Vec<Part>) {
    let Observed { task, message, .. } = &observed;
    let artifacts = task.iter().flat_map(|task| &task.artifacts);
    let said = message.iter().chain(task.iter().flat_map(|task| &task.status.message));
    let parts = artifacts.flat_map(|artifact: &Artifact| &artifact.parts);
    let parts = parts.chain(said.flat_map(|message: &Message| &message.parts));
    let files =
        parts.filter(|part| matches!(part.content, PartContent::Raw(_) | PartContent::Url(_)));
    let files = files.cloned().collect();
    (Delegated::Observed(Box::new(observed)).to_string(), files)
}
