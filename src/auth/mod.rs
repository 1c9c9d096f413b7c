//! Who calls (spec §7): decides by what a request shows, and by the policy of the agent. Nothing here waits.
//!
//! What has to be waited for, as the public keys of an identity provider, is told as [`Identity::Pending`]. The edge finds it out, and
//! asks again with the [`Verdict`]s.

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
