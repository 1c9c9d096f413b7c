//! The kind `rust`: an agent whose executor is part of the Worker.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::AgentDefinition;

/// `[executor.rust]`.
///
/// Whether there is an executor of this name, and takes these settings, is known when the Worker starts: the
/// build does not run it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RustTable {
    /// The name under which the Worker registers the executor.
    pub name: String,
    /// What else stands in the table, for the executor alone.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

impl RustTable {
    pub(super) fn problems(&self, agent: &AgentDefinition) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if self.name.trim().is_empty() {
            let fix = "must be the name under which the Worker registers the executor";
            problems.push(("executor.rust.name".to_owned(), fix.to_owned()));
        }
        if agent.skills.is_empty() {
            let fix = "an agent written in Rust needs at least one `[[skills]]`";
            problems.push(("skills".to_owned(), fix.to_owned()));
        }
        problems
    }
}
