//! Tokens whose signature must be checked with another party's public key.

use a2a_agents::access::JwtAlgorithm;

/// A token that is valid except for its signature, which is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedToken {
    /// Identifies the token.
    pub digest: TokenDigest,
    /// The place of the public key.
    pub source: KeySource,
    /// The name of the key; if `None`, the issuer must have only one key.
    pub kid: Option<String>,
    /// The algorithm of the signature, which the policy accepts.
    pub algorithm: JwtAlgorithm,
    /// The signed text: the first two parts of the token and the full stop between them.
    pub signing_input: String,
    /// The signature.
    pub signature: Vec<u8>,
}

/// The place of the public keys of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// At this URL.
    KeySet(String),
    /// At the URL in the discovery document of this issuer.
    Discovery(String),
}

/// The SHA-256 of a token and of the scheme that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenDigest(pub [u8; 32]);

/// The result of checking a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The signature was made with the key.
    Genuine,
    /// The signature is wrong, or the key does not exist. The reason is for the client.
    Refused(&'static str),
    /// The keys cannot be fetched at the moment.
    Unavailable,
}
