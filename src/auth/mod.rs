//! Identifies the caller of a request (spec §7) by the request's credentials and the policy of the agent. This code
//! does not wait.
//!
//! If the result depends on something remote, for example the public keys of an identity provider, the result is
//! [`Identity::Pending`]. The edge then checks the signatures, and calls the policy again with the [`Verdict`]s.
//!
//! # Who calls
//!
//! 1. The agent is determined first, by the path or by `tenant`, because each agent has its own policy. The policy is made once in the instance, from
//!    the agent file and the secrets (`Policy::new`); if it cannot be made, the agent refuses every call.
//! 2. `Policy::identify` reads only the head and does not wait. It returns a caller, a refusal, or tokens whose signatures must be checked. Static
//!    secrets and HS256 are checked here. A token that was verified before is found in a cache by its digest, so such a request costs no more than a
//!    request to an open agent.
//! 3. Unchecked tokens lead to the plan `~`: `facts.rs` lets `check.rs` get the keys (`key_sets.rs`: memory, D1, then the provider) and verify the
//!    signatures by WebCrypto, and decides again with the verdicts. The policy caches the verified tokens.
//! 4. The caller is sent to the object in the command, and is stored with the run. `Caller::owner` is the owner of tasks, rows, keys and counters.
//! 5. `seen.rs` records which agent answers and which credentials were refused, with the reason. From this record follow the origin that may read the
//!    answer, the rate limits that `hop.js` checks before it follows the plan, and the line of the audit.
//!
//! The order of admission is tested: path, version, agent, identity, then everything else. So a refusal reveals nothing that only callers may read,
//! except which agents exist, and the cards show these anyway.

mod caller;
mod certificate;
mod challenge;
mod credential;
pub mod discovery;
mod evidence;
mod given;
mod guesses;
mod jwt;
mod key_set;
mod keyring;
mod known;
mod method;
mod operator;
mod origin;
mod owner;
mod policy;
mod proof;
mod token;

pub use caller::Caller;
pub use evidence::Evidence;
pub use given::GivenCredentials;
pub use guesses::{Finding, Guess, Guesses};
pub use key_set::{KeySet, MAX_KEYS, NoKey, PublicKey};
pub use method::Place;
pub use operator::{ActAs, not_for_operators};
pub use owner::{OwnerId, Owners};
pub use policy::Policy;
pub use token::{KeySource, TokenDigest, UncheckedToken, Verdict};

use a2a::error::Error;

/// The result of identifying the caller of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Identity {
    /// The request is this caller's.
    Caller(Caller),
    /// The credentials of the request are refused, or missing although the agent requires some.
    Refused(Error),
    /// The signatures of these tokens must be checked first.
    Pending(Vec<UncheckedToken>),
}

/// The judgement of an agent about a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'p> {
    /// The caller of the request, or the refusal.
    pub identity: Identity,
    /// The finding about each credential in the request.
    pub findings: Vec<(&'p Place, Finding)>,
}

impl From<Identity> for Judged<'_> {
    /// The judgement of a request whose credentials were not read.
    fn from(identity: Identity) -> Self {
        Self { identity, findings: Vec::new() }
    }
}
