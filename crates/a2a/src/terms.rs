//! The terms of a call: the settings that apply to it in addition to its parameters.

use serde::Serialize;
use serde_json::Value;

use crate::model::decode::{Decode, Fields};

/// The terms of a call. Terms that do not apply to the operation are not set, and have no member in the written form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Terms {
    /// The generation that the task must have for a message, a cancel or a deletion to be accepted (`If-Generation-Match`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    /// GetTask waits until the task is after this generation (`After-Generation`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// How long GetTask waits at most, in milliseconds (`Prefer: wait`); limited to the time of a blocking send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// The time limit for the run that a send begins, in milliseconds, if lower than the agent's limit (`Run-Timeout-Ms`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_timeout_ms: Option<u64>,
    /// How long a send waits for the end of the task before the present task is returned, in milliseconds, if lower than
    /// for a blocking send. Only older dialects set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_within_ms: Option<u64>,
    /// Whether a subscription to a task that has ended returns the task, instead of an error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shows_ended: bool,
    /// Whether canceling a canceled task is an error, instead of returning the task. Only A2A 0.3 sets it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refuses_canceled: bool,
    /// Whether the metadata of returned tasks contains their generation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shows_generation: bool,
    /// Whether returned tasks contain their past statuses. Only older dialects set it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shows_statuses: bool,
    /// The quota that the caller has reached, if any: a send that would begin a task is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_quota: Option<Quota>,
    /// Whether the place of a task in the quotas of its caller is reserved. It is given back if the send begins no task.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_reserved: bool,
    /// The caller's daily limit that is used up, if any: a message is refused unless it is a repetition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_up: Option<UsedUp>,
    /// The rest of the caller's daily budget, if it is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Allowance>,
}

impl Terms {
    /// True if no term is set.
    pub fn are_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A quota: what a caller may have at a time. It is asked before a task begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quota {
    /// This number of unfinished tasks, over all agents.
    Tasks(u64),
    /// This number of unfinished tasks with the agent.
    AgentTasks(u64),
    /// This number of bytes in the tasks with the agent.
    StoredBytes(u64),
}

/// A used-up daily limit of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UsedUp {
    /// The limit that was reached.
    pub limit: DayLimit,
    /// The number of seconds until the end of the day.
    pub seconds: u32,
}

/// The daily limit for the calls of one caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DayLimit {
    /// This number of model tokens.
    Tokens(u64),
    /// This cost, in millionths of the currency of the prices.
    CostMicros(u64),
}

/// The rest of a caller's daily budget. A member that is not set is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Allowance {
    /// The model tokens.
    pub tokens: Option<u64>,
    /// The cost, in millionths of the currency of the prices.
    pub cost_micros: Option<u64>,
}

impl Decode for Quota {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let tasks = fields.number("tasks").map(Self::Tasks);
        let of_agent = || fields.number("agent_tasks").map(Self::AgentTasks);
        tasks.or_else(of_agent).or_else(|| fields.number("stored_bytes").map(Self::StoredBytes))
    }
}

impl Decode for UsedUp {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let Allowance { tokens, cost_micros } = fields.object("limit")?;
        let limit = tokens.map(DayLimit::Tokens).or(cost_micros.map(DayLimit::CostMicros))?;
        Some(Self { limit, seconds: fields.number("seconds")? })
    }
}

impl Decode for Allowance {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self { tokens: fields.number("tokens"), cost_micros: fields.number("cost_micros") })
    }
}

impl Decode for Terms {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let mut number = |name| fields.member(name).as_ref().and_then(Value::as_u64);
        Some(Self {
            expected: number("expected"),
            after: number("after"),
            wait_ms: number("wait_ms"),
            run_timeout_ms: number("run_timeout_ms"),
            answer_within_ms: number("answer_within_ms"),
            used_up: fields.object("used_up"),
            allowance: fields.object("allowance"),
            over_quota: fields.object("over_quota"),
            is_reserved: fields.boolean("is_reserved").unwrap_or_default(),
            shows_ended: fields.boolean("shows_ended").unwrap_or_default(),
            refuses_canceled: fields.boolean("refuses_canceled").unwrap_or_default(),
            shows_generation: fields.boolean("shows_generation").unwrap_or_default(),
            shows_statuses: fields.boolean("shows_statuses").unwrap_or_default(),
        })
    }
}
