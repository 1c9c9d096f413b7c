//! Rate limits that `js/hop.js` asks before a request is carried out.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::address::{ADDRESS, address};
use super::head::Head;
use crate::auth::Policy;
use crate::executor::{Agents, HostedAgent};
use a2a::model::{UnixMillis, hex, read_own};
use a2a_agents::access::{Access, RateLimit};

/// A rate limit to ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limit {
    /// Its binding.
    binding: String,
    /// What is counted together.
    key: String,
    /// Its period in seconds.
    period_s: u32,
    /// The slug of the agent whose wrong credentials it counts; empty if it counts something else.
    guessed_at: String,
}

impl Limit {
    /// A limit of the agent of this slug, by the `kind` of what it counts and its `key`.
    pub(super) fn new(limit: &RateLimit, slug: &str, kind: &str, key: &str) -> Self {
        let key = bounded(format!("{slug}/{kind}/{key}"));
        let (binding, period_s) = (limit.binding.clone(), limit.period_s);
        Self { binding, key, period_s, guessed_at: String::new() }
    }

    /// A limit of the agent of this slug on wrong credentials from an address.
    pub(super) fn of_failures(limit: &RateLimit, slug: &str, address: &str) -> Self {
        let counted = Self::new(limit, slug, "failures", address);
        Self { guessed_at: slug.to_owned(), ..counted }
    }
}

/// For how many seconds rate limits refuse a request: those in a list as JSON; 0 if it is empty. Where one of them counts wrong
/// credentials, its agent takes none from the address for so long.
pub(crate) fn refused_s(limits: &str, agents: &Agents, head: &Head<'_>, now: UnixMillis) -> u32 {
    // It has come from `js/hop.js`, which gives back what it was given.
    let limits: Vec<Limit> = read_own(limits).unwrap_or_default();
    for limit in limits.iter().filter(|limit| !limit.guessed_at.is_empty()) {
        let agent = agents.find(Some(&limit.guessed_at));
        if let Some(policy) = agent.and_then(|agent| agent.policy.as_ref().ok()) {
            policy.hold(&address(head), now.after(u64::from(limit.period_s) * 1000), now);
        }
    }
    limits.iter().map(|limit| limit.period_s).max().unwrap_or_default()
}

/// The headers that the rate limits and the allowed origins of agents need, in lower case.
pub(crate) fn headers(agents: &Agents) -> impl Iterator<Item = &'static str> {
    let any = |is_so: fn(&Access) -> bool| {
        let mut all = agents.slugs().filter_map(|slug| access(agents.find(Some(slug))?));
        all.any(is_so)
    };
    let origin = any(|access| !access.allowed_origins.is_empty()).then_some(ORIGIN);
    let address = any(|access| !access.rate_limits.is_empty()).then_some(ADDRESS);
    origin.into_iter().chain(address)
}

/// The access settings of an agent, if they can be used.
pub(super) fn access(agent: &HostedAgent) -> Option<&Access> {
    agent.policy.as_ref().ok().map(Policy::access)
}

/// The key, or its hash where it is long.
fn bounded(key: String) -> String {
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    hex(&Sha256::digest(key.as_bytes()))
}

/// The header that names the page from which a browser sends a request.
pub(super) const ORIGIN: &str = "origin";

/// The longest key of a rate limit as it is, in bytes.
const MAX_KEY_BYTES: usize = 256;
