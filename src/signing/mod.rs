//! What this server signs, so that others can look up by whom it is: the JWTs that go with notifications, and agent
//! cards. Signing itself is up to the platform.

mod card;
mod jwk;
mod jwt;

pub use card::{CardSignatures, with_signatures};
pub use jwk::{Algorithm, SigningKey, SigningKeys};
pub use jwt::Claims;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A JWT, or whatever else consists of what was signed and its signature.
pub fn join(signing_input: &str, signature: &[u8]) -> String {
    format!("{signing_input}.{}", URL_SAFE_NO_PAD.encode(signature))
}
