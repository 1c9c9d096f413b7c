//! Checks the signatures of tokens with the public keys of those who gave them out.

use futures_util::future::join_all;
use worker::Env;

use super::key_sets::{Missing, key_set};
use crate::auth::{NoKey, PublicKey, TokenDigest, UncheckedToken, Verdict};
use crate::edge::service::signatures::is_genuine;
use crate::port::{Observation, Observer};
use crate::remembered::Need;

/// What is found about each token.
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

/// Checks a token. What ends the check early is a verdict, too.
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

/// The key of a token. If there is none, its issuer may have a new one.
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

/// How often a key is looked for in a newer set. The second time is for a set that another instance has fetched before
/// the key was in it.
const MAX_LOOK_UPS: usize = 2;

const FORGED: &str = "the signature of the token is wrong";
const UNKNOWN_KEY: &str = "the issuer of the token has no such key";
const AMBIGUOUS_KEY: &str = "the issuer of the token has several such keys";
