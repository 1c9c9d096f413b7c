//! Tokens whose signature has to be checked with a key of somebody else.

use a2a_agents::access::JwtAlgorithm;

/// A token that is right in all but its signature, which is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedToken {
    /// What tells it from other tokens.
    pub digest: TokenDigest,
    /// Where the public key is.
    pub source: KeySource,
    /// The name of the key; without one, the one key there is.
    pub kid: Option<String>,
    /// What it is signed with, which the policy takes.
    pub algorithm: JwtAlgorithm,
    /// What is signed: the first two parts of the token and the full stop between them.
    pub signing_input: String,
    /// The signature.
    pub signature: Vec<u8>,
}

/// Where the public keys of tokens are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// At this URL.
    KeySet(String),
    /// Where the discovery document of this issuer says.
    Discovery(String),
}

/// The SHA-256 of a token and of the scheme that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenDigest(pub [u8; 32]);

/// What the check of a signature has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The signature is that of the key.
    Genuine,
    /// It is not, or there is no such key. Why, for the client.
    Refused(&'static str),
    /// The keys cannot be had at the moment.
    Unavailable,
}
