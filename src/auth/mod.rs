//! Who calls (spec §7): decides by what a request shows, and by the policy of the agent. Nothing here waits.
//!
//! What has to be waited for, as the public keys of an identity provider, is told as [`Identity::Pending`]. The edge finds it out, and
//! asks again with the [`Verdict`]s.
//!
//! # Who calls
//!
//! 1. The agent is known first, by the path or by `tenant`, because each has a policy of its own. It was made once in the instance, from the agent file and the secrets (`Policy::new`); one that cannot be made makes
//!    the agent refuse every call.
//! 2. `Policy::identify` looks at the head alone and does not wait. It gives a caller, a refusal, or tokens whose signatures are to be checked. Static secrets and HS256 are checked here, and a token that was found
//!    genuine before is found by its digest, so such a request takes the same way, at the same cost, as one to an open agent.
//! 3. Unchecked tokens make the plan `~`: `facts.rs` lets `check.rs` get the keys (`key_sets.rs`: memory, D1, then the provider) and verify by WebCrypto, and decides once more with the verdicts. The policy keeps what
//!    is genuine.
//! 4. The caller travels to the object in the command, and is stored with the run. `Caller::owner` is what tasks, rows, keys and counters belong to.
//! 5. `seen.rs` notes on the way which agent answers and who was refused why. From that come the origin that may read the answer, the rate limits that `hop.js` asks before it does what the plan says, and the line of
//!    the audit.
//!
//! The order of admission is tested: path, version, agent, identity, then all else. So nobody learns from a refusal what only callers may know, but which agents there are, which the cards show anyway.

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

/// What a request says about who makes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Identity {
    /// The request is this caller's.
    Caller(Caller),
    /// Its credentials are refused, or it has none and needs some.
    Refused(Error),
    /// The signatures of these tokens have to be checked before it is known.
    Pending(Vec<UncheckedToken>),
}

/// What an agent says about a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'p> {
    /// Who makes it.
    pub identity: Identity,
    /// What was found about each of the credentials that it shows.
    pub findings: Vec<(&'p Place, Finding)>,
}

impl From<Identity> for Judged<'_> {
    /// Who makes a request, without a look at its credentials.
    fn from(identity: Identity) -> Self {
        Self { identity, findings: Vec::new() }
    }
}
