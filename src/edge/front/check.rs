//! Checks the signatures of tokens with the public keys of whoever gave them out.

use worker::Env;

use crate::auth::{TokenDigest, UncheckedToken, Verdict};
use crate::port::Observer;

/// What is found about each token.
pub(super) async fn check(
    _env: &Env,
    tokens: &[UncheckedToken],
    _observer: &dyn Observer,
) -> Vec<(TokenDigest, Verdict)> {
    tokens.iter().map(|token| (token.digest, Verdict::Unavailable)).collect()
}
