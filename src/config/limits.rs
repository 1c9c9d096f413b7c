//! The limits of one task and of its runs.

use std::rc::Rc;

use super::ConfigError;
use super::variables::{DAY_MS, KIBIBYTE, MEBIBYTE, MINUTE_MS, Variables};
use a2a_agents::MAX_RETENTION_MS;

/// The limits of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `BLOCKING_LIMIT_MS`: how long a blocking send waits before it answers with the working task
    /// (60 s).
    pub blocking_limit_ms: u64,
    /// `RUN_TIMEOUT_MS`: how long a run of an agent may take, including all its attempts, before its task fails (5
    /// min). An agent file may set another value, a request may set a lower one.
    pub run_timeout_ms: u64,
    /// `IDLE_TIMEOUT_MS`: how long a run may emit nothing before its task fails; 0 (the default) for no such limit. An
    /// agent file may set another value.
    pub idle_timeout_ms: u64,
    /// `MAX_ATTEMPTS`: how often a run is started at most if it is interrupted (3). An agent file may set another
    /// value.
    pub max_attempts: u32,
    /// `KEEP_ALIVE_MS`: how soon a task with a run is checked again if its object was evicted (30 s).
    pub keep_alive_ms: u64,
    /// `EVENT_INTERVAL_MS`: the shortest time between two writes of events of a running task, after a burst of four
    /// (200 ms). Events that follow faster share a row.
    pub event_interval_ms: u64,
    /// `RETENTION_MS`: how long a finished task is kept (30 days); 0 for ever.
    pub retention_ms: u64,
    /// The retention of the agents whose files name one, by slug; in milliseconds, 0 for ever.
    pub retention_of: Rc<[(String, u64)]>,
    /// `TASK_GRACE_MS`: how long an agent may run before its answer becomes a task (250 ms). A direct message after
    /// that becomes the closing message of the task.
    pub task_grace_ms: u64,
    /// `INDEX_WAIT_MS`: the longest time that an answer waits for the task's row in the index (2 s).
    pub index_wait_ms: u64,
    /// `MAX_EVENT_BYTES`: the largest single event, as JSON (4 MiB).
    pub max_event_bytes: usize,
    /// `MAX_JSON_VALUES`: the largest number of JSON values, including names of members, in a request body or an event
    /// (100,000). The limit of a whole task is ten times higher.
    pub max_json_values: usize,
    /// `MAX_STREAMS`: the largest number of streams that follow one task at a time (5,000).
    pub max_streams: usize,
    /// `MAX_HISTORY`: the largest number of messages of the client in one task (1,000).
    pub max_history: usize,
    /// `MAX_ARTIFACTS`: the largest number of artifacts of one task (1,000).
    pub max_artifacts: usize,
    /// `MAX_WEBHOOKS`: the largest number of webhooks of one task (20).
    pub max_webhooks: usize,
    /// `WEBHOOK_ATTEMPTS`: the largest number of attempts to send a notification (8).
    pub webhook_attempts: u32,
    /// `WEBHOOK_MAX_AGE_MS`: how long a notification is retried at most (24 h).
    pub webhook_max_age_ms: u64,
    /// `WEBHOOK_RETRY_MS`: the delay before the second attempt (5 s); it doubles with each attempt, up to one hour.
    pub webhook_retry_ms: u64,
    /// `WEBHOOK_TIMEOUT_MS`: how long a receiver may take to answer (10 s).
    pub webhook_timeout_ms: u64,
    /// `WEBHOOK_SUSPEND_AFTER`: the number of consecutive notifications that are given up before a webhook is suspended
    /// (3).
    pub webhook_suspend_after: u32,
    /// `MAX_TASK_BYTES`: the largest size of the log of one task (32 MiB).
    pub max_task_bytes: usize,
    /// `MAX_STEPS`: the largest number of steps in one run (1,000).
    pub max_steps: usize,
    /// `MAX_DEPTH`: the largest depth of a chain of agents that call each other (8).
    pub max_depth: u32,
    /// `MAX_STEP_BYTES`: the largest result of a step, as JSON (256 KiB).
    pub max_step_bytes: usize,
}

impl Limits {
    /// Reads the limits.
    ///
    /// # Errors
    ///
    /// The first variable whose value cannot be used.
    pub(super) fn read(variables: Variables<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            blocking_limit_ms: variables.number("BLOCKING_LIMIT_MS", MINUTE_MS, 1..=LONGEST_MS)?,
            run_timeout_ms: variables.number("RUN_TIMEOUT_MS", 5 * MINUTE_MS, 1..=LONGEST_MS)?,
            idle_timeout_ms: variables.number("IDLE_TIMEOUT_MS", 0, 0..=LONGEST_MS)?,
            max_attempts: variables.number("MAX_ATTEMPTS", 3, 1..=1_000)?,
            keep_alive_ms: variables.number("KEEP_ALIVE_MS", 30_000, 100..=10 * MINUTE_MS)?,
            event_interval_ms: variables.number("EVENT_INTERVAL_MS", 200, 0..=10_000)?,
            retention_ms: variables.number("RETENTION_MS", 30 * DAY_MS, 0..=MAX_RETENTION_MS)?,
            retention_of: Rc::default(),
            task_grace_ms: variables.number("TASK_GRACE_MS", 250, 0..=10_000)?,
            index_wait_ms: variables.number("INDEX_WAIT_MS", 2_000, 0..=MINUTE_MS)?,
            max_event_bytes: variables.number(
                "MAX_EVENT_BYTES",
                4 * MEBIBYTE,
                KIBIBYTE..=32 * MEBIBYTE,
            )?,
            max_json_values: variables.number("MAX_JSON_VALUES", 100_000, 100..=10_000_000)?,
            max_streams: variables.number("MAX_STREAMS", 5_000, 1..=30_000)?,
            max_history: variables.number("MAX_HISTORY", 1_000, 1..=100_000)?,
            max_artifacts: variables.number("MAX_ARTIFACTS", 1_000, 1..=100_000)?,
            max_webhooks: variables.number("MAX_WEBHOOKS", 20, 1..=1_000)?,
            webhook_attempts: variables.number("WEBHOOK_ATTEMPTS", 8, 1..=100)?,
            webhook_max_age_ms: variables.number("WEBHOOK_MAX_AGE_MS", DAY_MS, 1..=30 * DAY_MS)?,
            webhook_retry_ms: variables.number("WEBHOOK_RETRY_MS", 5_000, 1..=60 * MINUTE_MS)?,
            webhook_timeout_ms: variables.number(
                "WEBHOOK_TIMEOUT_MS",
                10_000,
                10..=2 * MINUTE_MS,
            )?,
            webhook_suspend_after: variables.number("WEBHOOK_SUSPEND_AFTER", 3, 1..=1_000)?,
            max_task_bytes: variables.number(
                "MAX_TASK_BYTES",
                32 * MEBIBYTE,
                KIBIBYTE..=64 * MEBIBYTE,
            )?,
            max_steps: variables.number("MAX_STEPS", 1_000, 1..=100_000)?,
            max_depth: variables.number("MAX_DEPTH", 8, 0..=100)?,
            max_step_bytes: variables.number("MAX_STEP_BYTES", MEBIBYTE / 4, 64..=4 * MEBIBYTE)?,
        })
    }
}

/// The largest value for the timeout of a run or of a wait: 15 minutes.
const LONGEST_MS: u64 = 15 * MINUTE_MS;
