//! What a delegation comes to, as the model is told.

use a2a::client::{Delegated, Observed};
use a2a::model::{Artifact, Part, PartContent};

/// The line for a delegation that cannot be made, for this reason.
pub(super) fn refused(reason: impl Into<String>) -> String {
    Delegated::Refused(reason.into()).to_string()
}

/// The line for a task, and the parts of its artifacts that a model cannot read.
pub(super) fn told(observed: Observed) -> (String, Vec<Part>) {
    let artifacts =
        observed.task.as_ref().map(|task| task.artifacts.as_slice()).unwrap_or_default();
    let files = artifacts.iter().flat_map(|artifact: &Artifact| &artifact.parts);
    let files =
        files.filter(|part| matches!(part.content, PartContent::Raw(_) | PartContent::Url(_)));
    let files = files.cloned().collect();
    (Delegated::Observed(Box::new(observed)).to_string(), files)
}
