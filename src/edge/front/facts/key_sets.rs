//! The public keys of token issuers: fetched from their servers, and stored in D1 and in memory.
//!
//! | token | statements of D1 | requests to the issuer | waits for |
//! |---|---|---|---|
//! | checked before by this instance | 0 | 0 | nothing |
//! | new | 0 | 0 | WebCrypto |
//! | new, the first from its source in this instance | 1, which reads a row | 0 | D1 |
//! | the first from its source ever, or for a day | 2, one of them in the background | 1, or 2 with discovery | D1 and the issuer |
//! | new, and the stored keys are stale | 3 in the background, by one instance | 1 or 2 | WebCrypto |
//! | with an unknown key id | 3, once a minute, by one instance | 1 or 2 | D1 and the issuer |

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, LocalBoxFuture, select};
use worker::{Delay, Env};

use crate::auth::{KeySet, KeySource, discovery};
use crate::config::Settings;
use crate::edge::bindings;
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::outbound::Outbound;
use crate::edge::service::remembered::{Fetched, FetchedValue, Recalled, Source};
use crate::edge::target::{check_key_url, host_of};
use crate::panic::Shared;
use crate::port::{Http, HttpAnswer, HttpError, HttpRequest, Observation, Observer};
use crate::remembered::{MAX_VALUE_BYTES, Need, Remembered, fresh_ms};
use a2a::binding::media_type::essence;
use a2a::model::UnixMillis;
use a2a::sorted::SortedMap;

/// The keys of a source, and the time when they were fetched.
pub(super) struct Known {
    pub(super) keys: Rc<KeySet>,
    pub(super) fetched: UnixMillis,
}

/// The reason why a source has no keys for a token.
pub(super) enum Missing {
    /// There are no newer keys than those that were read before.
    NothingNewer,
    /// The keys cannot be fetched at the moment.
    Unavailable,
}

/// The keys of a source.
pub(super) async fn key_set(env: &Env, source: &KeySource, need: Need) -> Result<Known, Missing> {
    let key = match source {
        KeySource::KeySet(url) => format!("jwks:{url}"),
        KeySource::Discovery(issuer) => format!("oidc:{issuer}"),
    };
    let asked = (env.clone(), source.clone());
    let fetch = move |_| -> LocalBoxFuture<'static, Fetched> {
        let (env, source) = asked.clone();
        Box::pin(async move { fetch(&env, &source).await })
    };
    let remembered = Source { key, usable_ms: USABLE_MS, fetch: Rc::new(fetch) };
    match recall(env, &remembered, need).await {
        // The stored text was written by another version that this version cannot parse, so the keys are fetched again.
        Err(Unread(fetched)) => {
            let newer = recall(env, &remembered, Need::NewerThan(fetched)).await;
            newer.unwrap_or(Err(Missing::Unavailable)).map_err(|_| Missing::Unavailable)
        }
        Ok(found) => found,
    }
}

/// The stored keys of a source, parsed.
async fn recall(env: &Env, source: &Source, need: Need) -> Result<Result<Known, Missing>, Unread> {
    Ok(match source.recall(env, need).await {
        Recalled::Value(Remembered { value, fetched, .. }) => {
            let keys = parsed(&source.key, fetched, &value).ok_or(Unread(fetched))?;
            Ok(Known { keys, fetched })
        }
        Recalled::NothingNewer => Err(Missing::NothingNewer),
        Recalled::Unavailable => Err(Missing::Unavailable),
    })
}

/// The text that was fetched at this instant is not a key set that this version can parse.
struct Unread(UnixMillis);

/// Fetches the keys of a source. Only the parts of the keys that this Worker uses are stored.
async fn fetch(env: &Env, source: &KeySource) -> Fetched {
    let observer = ConsoleObserver::of(env);
    let settings = bindings::settings(env).ok()?;
    let said = |url: &str, reason: &str| {
        let host = host_of(url);
        let host = host.as_deref().unwrap_or("an address that is no URL");
        observer.observe(&Observation::KeySetUnavailable { host, reason });
    };
    let url = match source {
        KeySource::KeySet(url) => url.clone(),
        KeySource::Discovery(issuer) => {
            let url = discovery::document_url(issuer);
            let document = document(&url, &settings).await;
            let found = document.and_then(|document| {
                let found = discovery::key_set_url(&document.body, issuer);
                found.map_err(|reason| format!("its discovery document {reason}"))
            });
            found.map_err(|reason| said(&url, &reason)).ok()?
        }
    };
    let read = document(&url, &settings).await.and_then(|document| {
        let keys =
            KeySet::parse(&document.body).map_err(|reason| format!("its answer {reason}"))?;
        Ok((keys, fresh_ms(document.header("cache-control"))))
    });
    let (keys, fresh_ms) = read.map_err(|reason| said(&url, &reason)).ok()?;
    if keys.improper > 0 {
        let host = host_of(&url).unwrap_or_default();
        let count = keys.improper;
        observer.observe(&Observation::KeysImproper { host: &host, count });
    }
    Some(FetchedValue { value: keys.to_json(), fresh_ms })
}

/// A JSON document of another server.
///
/// # Errors
///
/// The reason of the failure, without the URL.
async fn document(url: &str, settings: &Settings) -> Result<HttpAnswer<String>, String> {
    check_key_url(url, settings)
        .map_err(|reason| format!("it was not called: its URL {reason}"))?;
    let request = HttpRequest {
        timeout_ms: TIMEOUT_MS,
        max_bytes: MAX_VALUE_BYTES,
        ..HttpRequest::get(url).with_header("accept", "application/json, application/jwk-set+json")
    };
    let exchange = Box::pin(async {
        let answer = Outbound.send(request).await.map_err(|error| told(&error))?;
        match (answer.status, answer.header("content-type")) {
            (200, Some(kind)) if is_json(kind) => {}
            (200, _) => return Err("its answer is not JSON, by its content type".to_owned()),
            (status @ 300..400, _) => {
                return Err(format!("it answered {status}; redirects are not followed"));
            }
            (status, _) => return Err(format!("it answered {status}")),
        }
        answer.text().await.map_err(|error| told(&error))
    });
    // The timeout covers the whole exchange, even if the answer arrives in many small pieces.
    match select(exchange, Delay::from(Duration::from_millis(TIMEOUT_MS))).await {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => Err(format!("its answer did not come within {TIMEOUT_MS} ms")),
    }
}

/// The reason of a failure, without the URL.
fn told(error: &HttpError) -> String {
    match error {
        HttpError::Failed { url, reason } => {
            let shown = host_of(url).unwrap_or_default();
            format!("it did not answer: {}", a2a::http::one_line(&reason.replace(url, &shown)))
        }
        HttpError::Silent { timeout_ms, .. } => {
            format!("it did not answer within {timeout_ms} ms")
        }
        HttpError::TooLarge { max_bytes, .. } => {
            format!("its answer has more than {max_bytes} bytes")
        }
        HttpError::Status { status, .. } => format!("it answered {status}"),
        HttpError::Misfit { .. } => "its answer cannot be used".to_owned(),
        HttpError::Refused { reason, .. } => format!("it was not called: its URL {reason}"),
        HttpError::Unbound { reason } => format!("it was not called: {reason}"),
    }
}

/// True if a content type is JSON: `application/json`, or `application/…+json`.
fn is_json(content_type: &str) -> bool {
    let kind = essence(content_type).to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// The parsed keys of a source. They are parsed once per instance after each fetch.
fn parsed(key: &str, fetched: UnixMillis, value: &str) -> Option<Rc<KeySet>> {
    let known = PARSED.with_borrow(|parsed| parsed.get(key).cloned());
    if let Some((_, keys)) = known.filter(|(known, _)| *known == fetched) {
        return Some(keys);
    }
    let keys = Rc::new(KeySet::parse(value).ok()?);
    PARSED.change(|parsed| {
        if parsed.len() >= MAX_PARSED {
            parsed.clear();
        }
        parsed.insert(key.to_owned(), (fetched, keys.clone()));
    });
    Some(keys)
}

thread_local! {
    static PARSED: RefCell<SortedMap<String, (UnixMillis, Rc<KeySet>)>> =
        const { RefCell::new(SortedMap::new()) };
}

/// The largest number of parsed key sets that an instance holds. Before one more is added, all are dropped.
const MAX_PARSED: usize = 64;

/// The longest use of keys after their fetch while their server is down: 24 hours, in milliseconds.
const USABLE_MS: u64 = 24 * 60 * 60_000;

/// The timeout for one document, in milliseconds.
const TIMEOUT_MS: u64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_told_by_the_content_type() {
        for (kind, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/jwk-set+json", true),
            ("text/html", false),
            ("text/json", false),
            ("text/html+json", false),
            ("text/plain;application/json", false),
            ("", false),
        ] {
            assert_eq!(is_json(kind), expected, "{kind}");
        }
    }

    #[test]
    fn what_operators_are_told_holds_no_url() {
        let url = || "https://id.example/keys?secret=1".to_owned();
        for error in [
            HttpError::Silent { url: url(), timeout_ms: 1 },
            HttpError::TooLarge { url: url(), max_bytes: 1 },
            HttpError::Status { url: url(), status: 500, begins: "secret".to_owned() },
            HttpError::Misfit { url: url(), reason: "secret".to_owned() },
            HttpError::Refused { url: url(), reason: "must be https".to_owned() },
        ] {
            assert!(!told(&error).contains("secret"), "{}", told(&error));
        }
    }
}
