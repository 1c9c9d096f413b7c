//! Chance.

/// Identifiers, secrets and numbers that nobody can foresee.
pub trait Random {
    /// A new random id (UUID v4).
    fn new_id(&self) -> String;

    /// Random bytes that nobody can guess, at least 240 bits of them.
    fn secret_bytes(&self) -> [u8; 32];

    /// A random number from 0 to 1. Good enough to spread retries, not for secrets.
    fn chance(&self) -> f64;
}
