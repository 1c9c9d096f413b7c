//! A cache of verified tokens, so that the next request with one of them needs no check of the signature.

use std::cell::RefCell;
use std::collections::VecDeque;

use super::TokenDigest;
use super::proof::Proven;
use a2a::model::UnixMillis;
use a2a::sorted::SortedMap;

/// Verified tokens and their callers: the newest [`MAX_KNOWN`], each until it expires, and for [`MAX_KNOWN_MS`] at
/// most.
#[derive(Default)]
pub(super) struct KnownTokens(RefCell<Known>);

#[derive(Default)]
struct Known {
    tokens: SortedMap<TokenDigest, (Proven, UnixMillis)>,
    /// In the order of their arrival.
    order: VecDeque<TokenDigest>,
}

impl KnownTokens {
    /// The caller of a token, if the token is in the cache.
    pub(super) fn find(&self, digest: &TokenDigest, now: UnixMillis) -> Option<Proven> {
        let known = self.0.borrow();
        let (proven, until) = known.tokens.get(digest)?;
        (now < *until).then(|| proven.clone())
    }

    /// Stores a verified token.
    pub(super) fn keep(&self, digest: TokenDigest, proven: &Proven, now: UnixMillis) {
        let until = now.after(MAX_KNOWN_MS);
        let until = proven.expires_at.map_or(until, |expires_at| until.min(expires_at));
        let mut known = self.0.borrow_mut();
        let Known { tokens, order } = &mut *known;
        if tokens.insert(digest, (proven.clone(), until)).is_none() {
            order.push_back(digest);
        }
        while tokens.len() > MAX_KNOWN {
            let Some(oldest) = order.pop_front() else { break };
            tokens.remove(&oldest);
        }
    }
}

/// The largest number of tokens that a policy caches.
const MAX_KNOWN: usize = 1_000;

/// How long a token is cached: 10 minutes, in milliseconds. After an issuer withdraws a key, cached tokens are accepted
/// for at most this time.
const MAX_KNOWN_MS: u64 = 600_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(number: usize) -> TokenDigest {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        TokenDigest(bytes)
    }

    fn proven(expires_at: Option<i64>) -> Proven {
        Proven { expires_at: expires_at.map(UnixMillis), ..Proven::default() }
    }

    #[test]
    fn a_token_is_known_until_it_expires_and_for_ten_minutes() {
        let known = KnownTokens::default();
        known.keep(digest(1), &proven(Some(500)), UnixMillis(0));
        known.keep(digest(2), &proven(None), UnixMillis(0));
        for (number, now, is_known) in [
            (1, 499, true),
            (1, 500, false),
            (2, 599_999, true),
            (2, 600_000, false),
            (3, 0, false),
        ] {
            let found = known.find(&digest(number), UnixMillis(now));
            assert_eq!(found.is_some(), is_known, "{number} at {now}");
        }
        known.keep(digest(2), &proven(None), UnixMillis(600_000));
        assert!(known.find(&digest(2), UnixMillis(600_001)).is_some(), "it was found again");
    }

    #[test]
    fn the_oldest_of_too_many_tokens_is_forgotten() {
        let known = KnownTokens::default();
        for number in 0..MAX_KNOWN + 2 {
            known.keep(digest(number), &proven(None), UnixMillis(0));
            known.keep(digest(number), &proven(None), UnixMillis(0));
        }
        let is_known = |number| known.find(&digest(number), UnixMillis(0)).is_some();
        assert_eq!([0, 1, 2, MAX_KNOWN + 1].map(is_known), [false, false, true, true]);
        let known = known.0.borrow();
        assert_eq!((known.tokens.len(), known.order.len()), (MAX_KNOWN, MAX_KNOWN));
    }
}
