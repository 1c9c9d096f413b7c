//! Verifies notifications of a2a-edge. Crates: base64, hmac 0.12, sha2 0.10, serde, and for the JWT jsonwebtoken.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::jwk::{JwkSet, KeyAlgorithm};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use sha2::Sha256;

/// Whether a notification was signed with the secret, and is not an old one. The values
/// are those of the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`; the body is as it came.
pub fn is_signed(
    secret: &str,
    id: &str,
    timestamp: &str,
    signatures: &str,
    body: &[u8],
    now_s: u64,
) -> bool {
    let is_recent = timestamp.parse().is_ok_and(|sent_s| now_s.abs_diff(sent_s) <= TOLERANCE_S);
    let key = secret.strip_prefix("whsec_").and_then(|secret| STANDARD.decode(secret).ok());
    let Some(key) = key.filter(|key| key.len() >= 24) else { return false };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key) else { return false };
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    // There may be several, separated by spaces, while a secret is being replaced.
    let mut given = signatures.split(' ').filter_map(|signature| signature.strip_prefix("v1,"));
    // `verify_slice` takes the same time for every signature.
    let is_right = |value: &str| {
        STANDARD.decode(value).is_ok_and(|bytes| mac.clone().verify_slice(&bytes).is_ok())
    };
    is_recent && given.any(is_right)
}

/// What a JWT says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claims {
    /// The id of the delivery, as in `webhook-id`.
    pub jti: String,
    /// The task that the notification is about.
    pub task_id: String,
}

/// The claims of a JWT, if it is genuine. `jwks` is what the agents' server gives at
/// `/.well-known/jwks.json`, `issuer` that server's origin, `audience` the origin of your webhook.
pub fn verify_token(
    token: &str,
    jwks: &JwkSet,
    issuer: &str,
    audience: &str,
) -> Result<Claims, Error> {
    let kid = decode_header(token)?.kid.unwrap_or_default();
    let key = jwks.find(&kid).ok_or(ErrorKind::InvalidToken)?;
    // The key says which algorithm is right, never the token.
    let algorithm = match key.common.key_algorithm {
        Some(KeyAlgorithm::ES256) => Algorithm::ES256,
        Some(KeyAlgorithm::EdDSA) => Algorithm::EdDSA,
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    };
    let mut wanted = Validation::new(algorithm);
    wanted.set_required_spec_claims(&["exp", "iss", "aud"]);
    wanted.set_issuer(&[issuer]);
    wanted.set_audience(&[audience]);
    Ok(decode(token, &DecodingKey::from_jwk(key)?, &wanted)?.claims)
}

const TOLERANCE_S: u64 = 300;
