//! Signatures of this server, which others can verify by its public keys: the JWTs in notifications, and agent cards.
//! The platform computes the signatures.

mod card;
mod jwk;
mod jwt;

pub use card::{CardSignatures, with_signatures};
pub use jwk::{Algorithm, SigningKey, SigningKeys};
pub use jwt::Claims;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Joins a signed text and its signature, as in a JWT.
pub fn join(signing_input: &str, signature: &[u8]) -> String {
    format!("{signing_input}.{}", URL_SAFE_NO_PAD.encode(signature))
}
