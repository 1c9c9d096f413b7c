//! Kinds that a Worker registers: an agent whose executor is written in Rust.

use serde_json::{Map, Value};

use crate::AgentDefinition;

/// `[executor.<kind>]` of a kind that is none of a2a-edge's own.
///
/// Whether the Worker has registered an executor under this name, and it takes these settings, is known when the
/// Worker starts: the build does not run it. An agent whose executor cannot be made refuses messages, and the log
/// says why.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredTable {
    /// The name of the kind, under which the Worker registers the executor.
    pub kind: String,
    /// What stands in the table, for the executor alone; empty if the file has no such table.
    pub settings: Map<String, Value>,
}

impl RegisteredTable {
    pub(super) fn problems(&self, agent: &AgentDefinition) -> Vec<(String, String)> {
        if !agent.skills.is_empty() {
            return Vec::new();
        }
        let fix = format!("an agent of kind {:?} needs at least one `[[skills]]`", self.kind);
        vec![("skills".to_owned(), fix)]
    }
}
