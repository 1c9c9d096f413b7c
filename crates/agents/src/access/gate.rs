//! What is asked before it is known who calls: from which pages, and how often.

use serde::{Deserialize, Serialize};

/// A guard against too many requests: a rate-limit binding of wrangler.toml, which has the limit and the period.
/// Counts are kept per location of the platform, so this is a guard and no quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// The name of the binding.
    pub binding: String,
    /// What is counted together.
    pub by: LimitedBy,
    /// The period of the binding, in seconds: 10 or 60. `Retry-After` says it, since the platform does not.
    #[serde(default = "default_period")]
    pub period_s: u32,
}

/// What a rate limit counts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedBy {
    /// The requests of a caller to this agent. Anonymous callers are told apart by their addresses.
    Caller,
    /// The requests from an address to this agent, before credentials are looked at.
    Address,
    /// The requests from an address to this agent whose credentials were refused.
    Failures,
}

fn default_period() -> u32 {
    60
}
