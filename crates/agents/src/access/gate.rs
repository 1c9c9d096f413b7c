//! Settings that apply before the caller is known: allowed origins and rate limits.

use serde::Serialize;

use a2a::model::decode::Decode;

/// A limit of the rate of requests: a rate-limit binding of wrangler.toml, which contains the limit and the period. The
/// platform counts per location, so the limit is not a quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// The name of the binding.
    pub binding: String,
    /// The requests that are counted together.
    pub by: LimitedBy,
    /// The period of the binding, in seconds: 10 or 60. It is sent in `Retry-After`, because the platform does not
    /// provide it.
    #[serde(default = "default_period")]
    #[cfg_attr(any(test, feature = "checker"), schemars(extend("enum" = PERIODS_S)))]
    pub period_s: u32,
}

/// The requests that a rate limit counts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitedBy {
    /// The requests of a caller to this agent. Anonymous callers are distinguished by their IP addresses.
    Caller,
    /// The requests from an IP address to this agent, counted before credentials are checked.
    Address,
    /// The requests from an IP address to this agent whose credentials were refused.
    Failures,
}

/// The periods that a rate-limit binding may have, in seconds.
#[cfg(any(test, feature = "checker"))]
pub(super) const PERIODS_S: [u32; 2] = [10, 60];

fn default_period() -> u32 {
    60
}
