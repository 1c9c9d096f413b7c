//! The cards of other agents, remembered in the table `remembered` of D1, and the checks of their signatures.
//!
//! A card is used while it is fresh and, if its server is down, for up to a day after the fetch. If the card is stale, one
//! request of one instance revalidates it in the background.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use worker::Env;

use super::clock::now;
use super::observer::ConsoleObserver;
use super::remembered::{Fetched, FetchedValue, Recalled, Source};
use super::signatures::is_genuine;
use crate::auth::KeySet;
use crate::edge::target::host_of;
use crate::port::{HttpError, Observation, Observer};
use crate::remembered::{Age, MAX_FRESH_MS, MIN_FRESH_MS, Need, Remembered};
use a2a::client::{CardSource, CardText, Client, ClientError, RemoteCard, Verifier};
use a2a::model::{UnixMillis, hex, read_own};
use a2a_agents::access::JwtAlgorithm;

/// A client that verifies signatures of cards. The client also remembers its card, unless callers supply the URL: cards at URLs
/// of callers would fill the table.
pub(in crate::edge) fn equip(env: &Env, client: Client) -> Client {
    let client = client.with_verifier(Rc::new(WebVerifier));
    if client.settings().is_guarded {
        client
    } else {
        client.with_cards(Rc::new(RememberedCards { env: env.clone() }))
    }
}

/// The remembered cards.
pub(in crate::edge) struct RememberedCards {
    pub(in crate::edge) env: Env,
}

impl CardSource for RememberedCards {
    fn card<'a>(
        &'a self,
        client: &'a Client,
    ) -> LocalBoxFuture<'a, Result<Rc<RemoteCard>, ClientError>> {
        Box::pin(async move { self.recall(client, USABLE_MS).await.map(|recalled| recalled.card) })
    }
}

/// A card from the table `remembered`, or fetched.
pub(in crate::edge) struct RecalledCard {
    pub(in crate::edge) card: Rc<RemoteCard>,
    /// The instant at which the card was fetched.
    pub(in crate::edge) fetched: UnixMillis,
    /// False if the card should be fetched again.
    pub(in crate::edge) is_fresh: bool,
}

impl RememberedCards {
    /// The card of the client's agent, if it was fetched no more than `usable_ms` milliseconds ago.
    ///
    /// # Errors
    ///
    /// If the card cannot be fetched or used.
    pub(in crate::edge) fn recall<'a>(
        &'a self,
        client: &'a Client,
        usable_ms: u64,
    ) -> LocalBoxFuture<'a, Result<RecalledCard, ClientError>> {
        Box::pin(self.recall_now(client, usable_ms))
    }

    async fn recall_now(
        &self,
        client: &Client,
        usable_ms: u64,
    ) -> Result<RecalledCard, ClientError> {
        // The result of a fetch by this request itself: a card that is too large has no row, and a failure is not stored.
        let own: Rc<RefCell<Option<Result<CardText, ClientError>>>> = Rc::default();
        let asked = (self.env.clone(), client.clone(), own.clone());
        let fetch = move |known: Option<Remembered>| -> LocalBoxFuture<'static, Fetched> {
            let (env, client, own) = asked.clone();
            Box::pin(async move {
                let known = known.and_then(|known| read(&known.value, &client));
                let card = client.fetch_card_text(known.as_ref()).await;
                if let Err(error) = &card {
                    tell(&env, &client, error);
                }
                let fetched = card.as_ref().ok().map(fetched);
                own.replace(Some(card));
                fetched
            })
        };
        let key = format!("card:{}", mark(&client.settings().card_key()));
        let source = Source { key, usable_ms, fetch: Rc::new(fetch) };
        let mut need = Need::Usable;
        // A card that this version cannot read was stored by another version; it is fetched again.
        for _ in 0..2 {
            let Recalled::Value(remembered) = source.recall(&self.env, need).await else { break };
            let card = read(&remembered.value, client);
            let card = card.and_then(|card| RemoteCard::parse(&card.text).ok());
            match card {
                Some(card) => {
                    let is_fresh = remembered.age(usable_ms, now()) == Age::Fresh;
                    let (card, fetched) = (Rc::new(card), remembered.fetched);
                    return Ok(RecalledCard { card, fetched, is_fresh });
                }
                None => need = Need::NewerThan(remembered.fetched),
            }
        }
        match own.take() {
            Some(Ok(card)) => {
                let card = Rc::new(RemoteCard::parse(&card.text)?);
                Ok(RecalledCard { card, fetched: now(), is_fresh: true })
            }
            Some(Err(error)) => Err(error),
            None => {
                let reason = "its card could not be fetched a moment ago".to_owned();
                let url = client.settings().url.clone();
                Err(ClientError::Http(HttpError::Failed { url, reason }))
            }
        }
    }
}

/// The stored form of a card.
fn fetched(card: &CardText) -> FetchedValue {
    let CardText { url, text, fresh_ms, etag, last_modified } = card;
    let value = json!({"place": mark(url), "text": text, "etag": etag, "modified": last_modified});
    let fresh_ms = (*fresh_ms).clamp(MIN_FRESH_MS, MAX_FRESH_MS);
    FetchedValue { value: value.to_string(), fresh_ms }
}

/// Reads the stored form of a card; `None` if this version cannot read it.
fn read(value: &str, client: &Client) -> Option<CardText> {
    let value: Value = read_own(value).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let (etag, last_modified, place) = (text("etag"), text("modified"), text("place")?);
    let url = client.card_places().into_iter().find(|url| mark(url) == place)?;
    Some(CardText { url, text: text("text")?, fresh_ms: 0, etag, last_modified })
}

/// The hash that identifies a URL in the table. URLs of remotes may contain secrets, which must not be stored.
fn mark(url: &str) -> String {
    hex(&Sha256::digest(url.as_bytes()))
}

fn tell(env: &Env, client: &Client, error: &ClientError) {
    let host = host_of(&client.settings().url);
    let host = host.as_deref().unwrap_or("an address that is no URL");
    // URLs may contain secrets, and an answer of the server may repeat the secrets. The run that needs the card reports the whole
    // error with the secrets removed.
    let reason = match error {
        ClientError::Http(HttpError::Status { status, .. }) => format!("it answered {status}"),
        ClientError::Http(HttpError::TooLarge { max_bytes, .. }) => {
            format!("it has more than {max_bytes} bytes")
        }
        ClientError::Http(_) => "its server did not answer".to_owned(),
        ClientError::Card(_) | ClientError::UnfitCard(_) => "it cannot be used".to_owned(),
        _ => "it was not asked for".to_owned(),
    };
    ConsoleObserver::of(env).observe(&Observation::CardUnavailable { host, reason: &reason });
}

/// The longest time after the fetch for which a card is used if its server is down: 24 hours, in milliseconds.
const USABLE_MS: u64 = 24 * 60 * 60_000;

/// Checks signatures of cards by WebCrypto.
pub(in crate::edge) struct WebVerifier;

impl Verifier for WebVerifier {
    fn verify<'a>(
        &'a self,
        jwk: &'a str,
        algorithm: &'a str,
        text: &'a [u8],
        signature: &'a [u8],
    ) -> LocalBoxFuture<'a, bool> {
        let algorithm = match algorithm {
            "ES256" => JwtAlgorithm::Es256,
            "RS256" => JwtAlgorithm::Rs256,
            "EdDSA" => JwtAlgorithm::EdDsa,
            _ => return Box::pin(std::future::ready(false)),
        };
        Box::pin(async move {
            let keys = KeySet::parse(&format!(r#"{{"keys":[{jwk}]}}"#));
            let (Ok(keys), Ok(text)) = (keys, std::str::from_utf8(text)) else { return false };
            let Ok(key) = keys.key(None, algorithm) else { return false };
            is_genuine(key, text, signature).await.unwrap_or(false)
        })
    }
}
