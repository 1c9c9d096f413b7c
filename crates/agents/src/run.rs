//! The limits of an agent's runs, and what is kept of their steps: the table `[executor.run]` of its file.

use serde::Serialize;

use a2a::model::decode::Decode;

/// The limits of an agent's runs, the recovery of interrupted runs, and what is kept of steps: the table `[executor.run]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// The recovery of interrupted runs. Default: the recovery of the kind of executor.
    pub recovery: Option<Recovery>,
    /// The maximum number of attempts of a run; `MAX_ATTEMPTS` unless given.
    pub max_attempts: Option<u32>,
    /// The maximum duration of a run, all attempts together, in milliseconds; `RUN_TIMEOUT_MS` unless given.
    pub timeout_ms: Option<u64>,
    /// The maximum time without an event of the run, in milliseconds; `IDLE_TIMEOUT_MS` unless given. With 0,
    /// `timeout_ms` is the only limit.
    pub idle_timeout_ms: Option<u64>,
    /// What is kept of the steps of a run for people. Default: [`Trace::Names`], and where `DEVELOPMENT` is set [`Trace::Full`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// True if the owner of a task is shown what its steps were given and what they came to; otherwise only operators are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trace_for_owners: bool,
}

/// What is kept of the steps of a run for people, beyond what a resumed run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Decode)]
#[serde(rename_all = "snake_case")]
pub enum Trace {
    /// Nothing, and timelines show no steps.
    Off,
    /// Names and durations.
    Names,
    /// Also what each step was given.
    Full,
}

/// The recovery of a run that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Decode)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Run again. Finished steps return their stored results, and stored events are not sent a second time.
    Resume,
    /// Run again from the beginning. The run can read the number of its attempt.
    Restart,
    /// Fail the task.
    Fail,
}
