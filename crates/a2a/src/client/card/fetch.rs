//! Fetches cards: where they are, which redirects are followed, and for how long they are fresh.

use serde_json::Value;

use super::RemoteCard;
use crate::client::address::Address;
use crate::client::{Client, ClientError};
use crate::dialect::Dialect;
use crate::http::{HttpAnswer, HttpError, HttpRequest};
use crate::model::MAX_DOCUMENT_VALUES;
use crate::wire::http::OWS;

/// A card as it was fetched: a text that [`RemoteCard::parse`] reads, and by what to ask whether it has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardText {
    /// Where it was found.
    pub url: String,
    /// The card.
    pub text: String,
    /// For how long it needs not be fetched anew, in milliseconds: 300,000 unless the server says otherwise by
    /// `Cache-Control`; 0 to 86,400,000.
    pub fresh_ms: u64,
    /// The server's `ETag`.
    pub etag: Option<String>,
    /// The server's `Last-Modified`.
    pub last_modified: Option<String>,
}

impl Client {
    /// Fetches the card, reads it and, if the settings want that, verifies its signatures. With `known`, the server is asked
    /// whether that has changed.
    ///
    /// It is looked for at `/.well-known/agent-card.json` and at `/.well-known/agent.json`, below the path of the settings' URL
    /// first and then at its origin. Only that URL itself is asked if it is a card's: if its path ends with `.json`, `/card` or
    /// `/agent-card`. Three redirects are followed within the host; those to another host only with
    /// [`allow_other_hosts`](crate::client::Settings::allow_other_hosts), and without credentials.
    ///
    /// # Errors
    ///
    /// If it cannot be had or used. Where there is none in any place, the answer of the first one is the error:
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

    /// The URLs where the card may be, in order. They are as secret as that of the settings.
    pub fn card_places(&self) -> Vec<String> {
        Address::of_settings(&self.settings().url).map(|home| places(&home)).unwrap_or_default()
    }

    /// Fetches the card of the agent, whatever is remembered.
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

    /// Where a redirect leads, if it is followed.
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

/// Where a card may be, in order.
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

/// Whether there is no card in a place, so that another one is tried. Where applications are served, any path may give a page.
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

/// For how long a card is fresh whose answer has this header `Cache-Control`, in milliseconds.
fn fresh_ms(cache_control: Option<&str>) -> u64 {
    let mut fresh_ms = FRESH_MS;
    for directive in cache_control.unwrap_or_default().split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let value = value.trim_matches(OWS).trim_matches('"');
        match name.trim_matches(OWS).to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => return 0,
            "max-age" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                // More digits than a number holds are more seconds than the bound.
                let seconds: u64 = value.parse().unwrap_or(u64::MAX);
                fresh_ms = seconds.saturating_mul(1_000).min(MAX_FRESH_MS);
            }
            _ => {}
        }
    }
    fresh_ms
}

/// For how long a card is fresh of which the server says nothing: 5 minutes.
const FRESH_MS: u64 = 300_000;

/// For how long a card is fresh at most: a day.
const MAX_FRESH_MS: u64 = 86_400_000;

/// The largest card, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 3;

#[cfg(test)]
mod tests;
