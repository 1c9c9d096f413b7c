//! The kind `remote`: an agent that is a front of another one.

use serde::{Deserialize, Serialize};

use crate::skills::has_skills;
use crate::{AgentDefinition, Problem, Recovery};

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

impl RemoteTable {
    pub(super) fn problems(&self, agent: &AgentDefinition) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !has_skills(agent) {
            let fix = "an agent of kind \"remote\" needs at least one `[[skills]]`, or `skills_from = [\"remote\"]`: \
                       those of the remote agent";
            problems.push(Problem::at("skills", fix));
        }
        if self.remote.is_empty() {
            let fix =
                "must be the name of a remote agent: a table `[remote.<name>]` of remotes.toml";
            problems.push(Problem::at("executor.remote.remote", fix));
        }
        if !(SHORTEST_SILENCE_MS..=LONGEST_SILENCE_MS).contains(&self.silence_ms) {
            let fix = format!(
                "must be from {SHORTEST_SILENCE_MS} to {LONGEST_SILENCE_MS}, got {}",
                self.silence_ms
            );
            problems.push(Problem::at("executor.remote.silence_ms", fix));
        }
        let recovery = agent.executor.run.recovery;
        if !matches!(recovery, None | Some(Recovery::Resume)) {
            let fix = "must be \"resume\", or be left out: a front goes on with the remote task after a crash";
            problems.push(Problem::at("executor.run.recovery", fix));
        }
        problems
    }

    /// The remote agent that is named, with its key.
    #[cfg(any(test, feature = "build"))]
    pub(super) fn remotes(&self) -> Vec<(String, &str)> {
        vec![("executor.remote.remote".to_owned(), &self.remote)]
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
