//! Checks the signatures of tokens with the public keys of their issuers.

use worker::Env;

use super::key_sets::{Missing, key_set};
use crate::auth::{NoKey, PublicKey, TokenDigest, UncheckedToken, Verdict};
use crate::edge::service::signatures::is_genuine;
use crate::port::{Observation, Observer, join_all};
use crate::remembered::Need;

/// The verdict on each token.
pub(super) async fn check(
    env: &Env,
    tokens: &[UncheckedToken],
    observer: &dyn Observer,
) -> Vec<(TokenDigest, Verdict)> {
    let checks = tokens.iter().map(async |token| {
        let verdict = check_one(env, token, observer).await;
        (token.digest, verdict.unwrap_or_else(|verdict| verdict))
    });
    join_all(checks).await
}

/// Checks a token. The error is also a verdict: one that ends the check early.
async fn check_one(
    env: &Env,
    token: &UncheckedToken,
    observer: &dyn Observer,
) -> Result<Verdict, Verdict> {
    let key = find_key(env, token).await?;
    let UncheckedToken { signing_input, signature, .. } = token;
    match is_genuine(&key, signing_input, signature).await {
        Ok(true) => Ok(Verdict::Genuine),
        Ok(false) => Err(Verdict::Refused(FORGED)),
        Err(_) => {
            observer.observe(&Observation::KeyRefused { kid: token.kid.as_deref() });
            Err(Verdict::Refused(UNKNOWN_KEY))
        }
    }
}

/// The key of a token. If the known key set does not have it, a newer key set of the issuer is fetched.
async fn find_key(env: &Env, token: &UncheckedToken) -> Result<PublicKey, Verdict> {
    let UncheckedToken { source, kid, algorithm, .. } = token;
    let mut need = Need::Usable;
    for _ in 0..=MAX_LOOK_UPS {
        let known = key_set(env, source, need).await.map_err(|missing| match missing {
            Missing::NothingNewer => Verdict::Refused(UNKNOWN_KEY),
            Missing::Unavailable => Verdict::Unavailable,
        })?;
        match known.keys.key(kid.as_deref(), *algorithm) {
            Ok(key) => return Ok(key.clone()),
            Err(NoKey::Ambiguous) => return Err(Verdict::Refused(AMBIGUOUS_KEY)),
            Err(NoKey::Unknown) => need = Need::NewerThan(known.fetched),
        }
    }
    Err(Verdict::Refused(UNKNOWN_KEY))
}

/// The largest number of newer key sets in which a key is searched. The second one is for the case that another
/// instance had fetched the first one before the issuer added the key.
const MAX_LOOK_UPS: usize = 2;

const FORGED: &str = "the signature of the token is wrong";
const UNKNOWN_KEY: &str = "the issuer of the token has no such key";
const AMBIGUOUS_KEY: &str = "the issuer of the token has several such keys";
