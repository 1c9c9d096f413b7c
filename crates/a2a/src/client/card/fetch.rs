//! Fetches cards: their URLs, the redirects that are followed, and the time for which cards are fresh.

use serde_json::Value;

use super::RemoteCard;
use crate::client::address::Address;
use crate::client::{Client, ClientError};
use crate::dialect::Dialect;
use crate::http::{HttpAnswer, HttpError, HttpRequest};
use crate::model::MAX_DOCUMENT_VALUES;
use crate::wire::http::OWS;

/// A fetched card: a text for [`RemoteCard::parse`], and the validators that detect a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardText {
    /// The URL at which the card was found.
    pub url: String,
    /// The card.
    pub text: String,
    /// The time for which the card is fresh, in milliseconds: 300,000 unless the server sends another value in
    /// `Cache-Control`; 0 to 86,400,000.
    pub fresh_ms: u64,
    /// The server's `ETag`.
    pub etag: Option<String>,
    /// The server's `Last-Modified`.
    pub last_modified: Option<String>,
}

impl Client {
    /// Fetches the card, parses it and, if the settings require it, verifies the signatures. With `known`, the request is
    /// conditional, so the server need not send an unchanged card.
    ///
    /// The client requests `/.well-known/agent-card.json` and `/.well-known/agent.json`, first below the path of the
    /// settings' URL and then at its origin. If the path of this URL ends with `.json`, `/card` or `/agent-card`, it is the
    /// URL of a card, and only this URL is requested. Up to three redirects are followed within the host; redirects to
    /// another host only with [`allow_other_hosts`](crate::client::Settings::allow_other_hosts), and without credentials.
    ///
    /// # Errors
    ///
    /// If the card cannot be fetched or used. If no URL has a card, the answer of the first URL is the error:
    /// [`HttpError::Status`] with the status.
    pub async fn fetch_card_text(&self, known: Option<&CardText>) -> Result<CardText, ClientError> {
        if let Some(known) = known {
            match Box::pin(self.get_card(&known.url, Some(known))).await {
                Err(error) if is_absent(&error) => {}
                other => return other,
            }
        }
        let mut first = None;
        for place in places(&Address::of_settings(&self.settings().url)?) {
            match Box::pin(self.get_card(&place, None)).await {
                Err(error) if is_absent(&error) => first = first.or(Some(error)),
                other => return other,
            }
        }
        Err(first.unwrap_or(ClientError::Card("there is none".to_owned())))
    }

    /// The URLs at which the card may be, in order. Like the URL of the settings, they may contain secrets.
    pub fn card_places(&self) -> Vec<String> {
        Address::of_settings(&self.settings().url).map(|home| places(&home)).unwrap_or_default()
    }

    /// Fetches the card of the agent without a cache.
    ///
    /// # Errors
    ///
    /// As [`fetch_card_text`](Self::fetch_card_text).
    pub async fn fetch_card(&self) -> Result<RemoteCard, ClientError> {
        RemoteCard::parse(&self.fetch_card_text(None).await?.text)
    }

    async fn get_card(&self, url: &str, known: Option<&CardText>) -> Result<CardText, ClientError> {
        let mut place = url.to_owned();
        for _ in 0..=MAX_REDIRECTS {
            let make = || Ok(self.card_request(&place, known));
            let answer = self.dispatch(None, &make).await?;
            if let (304, Some(known)) = (answer.status, known) {
                let fresh_ms = fresh_ms(answer.header("cache-control"));
                return Ok(CardText { fresh_ms, ..known.clone() });
            }
            if let 301 | 302 | 303 | 307 | 308 = answer.status {
                place = self.redirected(&place, answer.header("location"))?;
                continue;
            }
            let answer = answer.text().await?.success()?;
            let json: Value = answer.json_within(MAX_DOCUMENT_VALUES)?;
            let card = RemoteCard::read(json)?;
            self.verify(&card).await?;
            return Ok(card_text(url, answer));
        }
        Err(ClientError::Card(format!("its URL redirects more than {MAX_REDIRECTS} times")))
    }

    fn card_request(&self, url: &str, known: Option<&CardText>) -> HttpRequest {
        let version = match self.settings().version.unwrap_or(Dialect::V1) {
            Dialect::Legacy => None,
            version => Some(("A2A-Version", version.version().to_owned())),
        };
        let etag = known.and_then(|known| known.etag.clone());
        let since = known.and_then(|known| known.last_modified.clone());
        let etag = etag.map(|etag| ("If-None-Match", etag));
        let since = since.map(|since| ("If-Modified-Since", since));
        let mut request = HttpRequest::get(url).with_header("Accept", "application/json");
        for (name, value) in [version, etag, since].into_iter().flatten() {
            request = request.with_header(name, value);
        }
        HttpRequest {
            timeout_ms: self.settings().request_timeout_ms,
            max_bytes: MAX_BYTES,
            ..request
        }
    }

    /// The target of a redirect, if the client may follow it.
    fn redirected(&self, from: &str, location: Option<&str>) -> Result<String, ClientError> {
        let home = Address::of_settings(&self.settings().url)?;
        let unusable = |reason: String| Err(ClientError::Card(reason));
        let from = Address::parse(from);
        let Some(to) = from.and_then(|from| from.join(location.unwrap_or_default())) else {
            return unusable("its URL redirects to nowhere that can be called".to_owned());
        };
        if home.is_downgrade(&to) {
            return unusable("its URL redirects from https to http".to_owned());
        }
        if !home.is_home_of(&to) && !self.settings().allow_other_hosts {
            let host = to.origin();
            return unusable(format!(
                "its URL redirects to another host, {host}: name that in the settings, or set allow_other_hosts"
            ));
        }
        Ok(to.url())
    }
}

/// The URLs at which a card may be, in order.
fn places(home: &Address) -> Vec<String> {
    let path = home.path().trim_end_matches('/');
    let is_card =
        path.ends_with(".json") || path.ends_with("/card") || path.ends_with("/agent-card");
    if is_card {
        return vec![home.url()];
    }
    let below = |path: &str| {
        ["agent-card.json", "agent.json"]
            .map(|name| format!("{}{path}/.well-known/{name}", home.origin()))
    };
    let mut all = below(path).to_vec();
    if !path.is_empty() {
        all.extend(below(""));
    }
    all
}

/// True if there is no card at a URL, so that the next URL is tried. A server of web applications may answer any path with
/// an HTML page.
fn is_absent(error: &ClientError) -> bool {
    match error {
        ClientError::Http(HttpError::Status { status, .. }) => matches!(status, 404 | 405 | 410),
        ClientError::Http(HttpError::Misfit { .. }) => true,
        _ => false,
    }
}

fn card_text(url: &str, answer: HttpAnswer<String>) -> CardText {
    let cache_control = answer.header("cache-control");
    let is_kept = !cache_control.is_some_and(|text| text.to_ascii_lowercase().contains("no-store"));
    let header = |name: &str| answer.header(name).filter(|_| is_kept).map(str::to_owned);
    CardText {
        url: url.to_owned(),
        fresh_ms: fresh_ms(cache_control),
        etag: header("etag"),
        last_modified: header("last-modified"),
        text: answer.body,
    }
}

/// The time for which a card is fresh if its answer has this `Cache-Control` header, in milliseconds.
fn fresh_ms(cache_control: Option<&str>) -> u64 {
    let mut fresh_ms = FRESH_MS;
    for directive in cache_control.unwrap_or_default().split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let value = value.trim_matches(OWS).trim_matches('"');
        match name.trim_matches(OWS).to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => return 0,
            "max-age" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                // A number too large for `u64` is limited to the longest time.
                let seconds: u64 = value.parse().unwrap_or(u64::MAX);
                fresh_ms = seconds.saturating_mul(1_000).min(MAX_FRESH_MS);
            }
            _ => {}
        }
    }
    fresh_ms
}

/// The time for which a card is fresh if the server sends no time: 5 minutes, in milliseconds.
const FRESH_MS: u64 = 300_000;

/// The longest time for which a card is fresh: a day, in milliseconds.
const MAX_FRESH_MS: u64 = 86_400_000;

/// The largest card, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// The largest number of redirects that are followed.
const MAX_REDIRECTS: usize = 3;

#[cfg(test)]
mod tests;
