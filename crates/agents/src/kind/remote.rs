//! The kind `remote`: an agent that is a front of another one.

use serde::{Deserialize, Serialize};

use super::{ExecutorKind, Kind};
use crate::tool::Tool;
use crate::{AgentDefinition, Misfit, Problem, Table};

/// `[executor.remote]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { remote = \"weather\" }")]
pub struct RemoteTable {
    /// The name of the remote agent: a table of `remotes.toml`.
    pub remote: String,
    /// How long the remote agent may be silent until the run is parked, in milliseconds: 1,000 to 240,000.
    #[serde(default = "silence_ms")]
    pub silence_ms: u64,
    /// Whether the remote agent is asked to send webhooks to a run that is parked.
    #[serde(default = "webhooks")]
    pub webhooks: bool,
}

impl Kind for RemoteTable {
    fn name(&self) -> &str {
        ExecutorKind::Remote.name()
    }

    fn table(&self) -> Result<Table, Misfit> {
        Table::of(self)
    }

    fn problems(&self, _: &AgentDefinition, _: &[&dyn Tool]) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.remote.is_empty() {
            let fix =
                "must be the name of a remote agent: a table `[remote.<name>]` of remotes.toml";
            problems.push(Problem::at("remote", fix));
        }
        if !(SHORTEST_SILENCE_MS..=LONGEST_SILENCE_MS).contains(&self.silence_ms) {
            let fix = format!(
                "must be from {SHORTEST_SILENCE_MS} to {LONGEST_SILENCE_MS}, got {}",
                self.silence_ms
            );
            problems.push(Problem::at("silence_ms", fix));
        }
        problems
    }

    #[cfg(any(test, feature = "build"))]
    fn remotes(&self) -> Vec<(String, &str)> {
        vec![("remote".to_owned(), &self.remote)]
    }

    fn front_of(&self) -> Option<&str> {
        Some(&self.remote)
    }

    fn resumes_because(&self) -> Option<&'static str> {
        Some("a front goes on with the remote task after a crash")
    }

    fn skills_hint(&self) -> &'static str {
        ", or `skills_from = [\"remote\"]`: those of the remote agent"
    }
}

impl Default for RemoteTable {
    fn default() -> Self {
        Self { remote: String::new(), silence_ms: silence_ms(), webhooks: webhooks() }
    }
}

fn silence_ms() -> u64 {
    60_000
}

fn webhooks() -> bool {
    true
}

const SHORTEST_SILENCE_MS: u64 = 1_000;
const LONGEST_SILENCE_MS: u64 = 240_000;
