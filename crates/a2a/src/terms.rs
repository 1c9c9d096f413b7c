//! On what terms a call is made: what counts for it besides its parameters.

use serde::Serialize;
use serde_json::Value;

use crate::model::decode::{Decode, Fields};

/// The terms of a call. Those that do not concern its operation are not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Terms {
    /// The generation that the task must be at for a message or a cancel to be taken
    /// (`If-Generation-Match`).
    pub expected: Option<u64>,
    /// The generation after which GetTask answers, waiting for it (`After-Generation`).
    pub after: Option<u64>,
    /// How long GetTask waits at most, in milliseconds (`Prefer: wait`); never longer than a blocking
    /// send.
    pub wait_ms: Option<u64>,
    /// How long the run that a send begins may take, in milliseconds, if less than the agent's runs may
    /// (`Run-Timeout-Ms`).
    pub run_timeout_ms: Option<u64>,
    /// How long a message is waited for before the task is answered as it is, in milliseconds, if less than a blocking send
    /// waits. Only older dialects say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_within_ms: Option<u64>,
    /// Whether a subscription to a task that has ended is answered by the task, instead of being refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shows_ended: bool,
    /// Whether a cancel of a task that is canceled is refused, instead of being answered by the task. Only A2A 0.3 says it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refuses_canceled: bool,
    /// Whether the metadata of tasks is to tell their generation.
    pub shows_generation: bool,
    /// Whether a task is shown with the statuses that it has had. Only older dialects say it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shows_statuses: bool,
    /// The number of unfinished tasks that the caller may have, if it has reached it: a send that would begin a
    /// task is refused.
    #[serde(rename = "quota")]
    pub over_quota: Option<u64>,
    /// What the caller has used up for the day, if anything: a message that is not a repetition is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_up: Option<UsedUp>,
    /// What the caller may still use in the day, where that is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Allowance>,
}

/// What a caller has used up for the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UsedUp {
    /// The limit that it has reached.
    pub limit: DayLimit,
    /// In how many seconds the day is over.
    pub seconds: u32,
}

/// How much the calls of one caller may use in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DayLimit {
    /// This many tokens of models.
    Tokens(u64),
    /// This cost, in millionths of the currency of the prices.
    CostMicros(u64),
}

/// What a caller may still use in a day. What is not set is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Allowance {
    /// Tokens of models.
    pub tokens: Option<u64>,
    /// Cost, in millionths of the currency of the prices.
    pub cost_micros: Option<u64>,
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
            over_quota: number("quota"),
            used_up: fields.object("used_up"),
            allowance: fields.object("allowance"),
            shows_ended: fields.boolean("shows_ended").unwrap_or_default(),
            refuses_canceled: fields.boolean("refuses_canceled").unwrap_or_default(),
            shows_generation: fields.boolean("shows_generation").unwrap_or_default(),
            shows_statuses: fields.boolean("shows_statuses").unwrap_or_default(),
        })
    }
}
