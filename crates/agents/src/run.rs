//! How the runs of an agent are bounded: the table `[executor.run]` of its file.

use serde::{Deserialize, Serialize};

/// How an agent's runs are bounded, and what becomes of interrupted ones: the table `[executor.run]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// What is to be done when a run was interrupted; unless given, what the kind of executor says.
    pub recovery: Option<Recovery>,
    /// How often a run is begun at most; `MAX_ATTEMPTS` unless given.
    pub max_attempts: Option<u32>,
    /// How long a run may take, all attempts together, in milliseconds; `RUN_TIMEOUT_MS` unless given.
    pub timeout_ms: Option<u64>,
    /// How long a run may do nothing that shows, in milliseconds; 0 for as long as it may take,
    /// `IDLE_TIMEOUT_MS` unless given.
    pub idle_timeout_ms: Option<u64>,
}

/// What is to be done when a run was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Run again; steps that are done give what they gave, what was said is not said again.
    Resume,
    /// Run again from the start, which knows that it is another attempt.
    Restart,
    /// Fail the task.
    Fail,
}
