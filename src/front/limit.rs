//! The rate limits that `js/hop.js` applies before a plan is carried out.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::address::address;
use super::head::Head;
use crate::auth::Policy;
use crate::executor::{Agents, HostedAgent};
use a2a::model::decode::{Decode, read_json};
use a2a::model::{UnixMillis, hex};
use a2a_agents::access::{Access, RateLimit};

/// A rate limit to ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
pub(crate) struct Limit {
    /// The name of the binding of the rate limiter.
    binding: String,
    /// The key under which requests are counted.
    key: String,
    /// The period of the limit, in seconds.
    period_s: u32,
    /// The slug of the agent, if the limit counts wrong credentials for this agent; otherwise empty.
    guessed_at: String,
}

impl Limit {
    /// A limit of the agent with this slug. `kind` names the counted property, for example `caller`; `key` is its
    /// value.
    pub(super) fn new(limit: &RateLimit, slug: &str, kind: &str, key: &str) -> Self {
        let key = bounded(format!("{slug}/{kind}/{key}"));
        let (binding, period_s) = (limit.binding.clone(), limit.period_s);
        Self { binding, key, period_s, guessed_at: String::new() }
    }

    /// A limit on wrong credentials from an address, for the agent with this slug.
    pub(super) fn of_failures(limit: &RateLimit, slug: &str, address: &str) -> Self {
        let counted = Self::new(limit, slug, "failures", address);
        Self { guessed_at: slug.to_owned(), ..counted }
    }
}

/// The number of seconds for which these rate limits, a JSON list, refuse a request; 0 if the list is empty. If a limit
/// counts wrong credentials, its agent also accepts no guessable credentials from the address of the request for the
/// period of the limit.
pub(crate) fn refused_s(limits: &str, agents: &Agents, head: &Head<'_>, now: UnixMillis) -> u32 {
    // The text comes from `js/hop.js`, which returns limits in the form in which it got them.
    let limits: Vec<Limit> = read_json(limits).unwrap_or_default();
    for limit in limits.iter().filter(|limit| !limit.guessed_at.is_empty()) {
        let agent = agents.find(Some(&limit.guessed_at));
        if let Some(policy) = agent.and_then(|agent| agent.policy.as_ref().ok()) {
            policy.hold(&address(head), now.after(u64::from(limit.period_s) * 1000), now);
        }
    }
    limits.iter().map(|limit| limit.period_s).max().unwrap_or_default()
}

/// The access settings of an agent, if its policy is valid.
pub(crate) fn access(agent: &HostedAgent) -> Option<&Access> {
    agent.policy.as_ref().ok().map(Policy::access)
}

/// The key, or its SHA-256 hash if the key is longer than [`MAX_KEY_BYTES`].
fn bounded(key: String) -> String {
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    hex(&Sha256::digest(key.as_bytes()))
}

/// The length up to which a key is used without hashing, in bytes.
const MAX_KEY_BYTES: usize = 256;
