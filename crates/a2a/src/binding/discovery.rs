//! Serving agent cards (spec §8).

use crate::model::{UnixMillis, fnv1a};
use crate::wire::http::HttpResponse;

/// The placeholder for the origin in a card that is made by the build.
pub const ORIGIN: &str = "{origin}";

/// The validators that a client sends for its copy of the card (RFC 9110 §13.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// `If-None-Match`.
    pub etag: Option<String>,
    /// `If-Modified-Since`; used only if there is no `If-None-Match`.
    pub modified: Option<String>,
}

/// The replacement for text in a template that happens to be equal to [`ORIGIN`]. It contains a code point that no text
/// contains.
const ORIGIN_AS_TEXT: &str = "{origin\u{ffff}}";

/// A card for an origin: `template` with `origin` in place of [`ORIGIN`]. Text that [`verbatim`] has protected is restored.
pub fn at_origin(template: &str, origin: &str) -> String {
    as_it_was(template.replace(ORIGIN, origin))
}

/// Protects foreign text in a template: if the text contains [`ORIGIN`], the card for an origin contains it unchanged.
pub fn verbatim(text: &str) -> String {
    text.replace(ORIGIN, ORIGIN_AS_TEXT)
}

/// Restores the text that [`verbatim`] has protected, in a template that is not a card.
pub fn as_it_was(text: String) -> String {
    if text.contains(ORIGIN_AS_TEXT) { text.replace(ORIGIN_AS_TEXT, ORIGIN) } else { text }
}

/// A card in the form that is served at an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedCard<'a> {
    etag: String,
    modified: &'a str,
    fresh_seconds: u32,
    vary: String,
}

impl<'a> ServedCard<'a> {
    /// A card without its signatures, because signatures differ between two answers; the `ETag` is computed from it. `mark`
    /// identifies the signing keys, and is empty if there are none. `modified` is the HTTP date on which the agent files
    /// were built.
    pub fn new(card: &str, mark: &str, modified: &'a str) -> Self {
        let hash = match mark {
            "" => fnv1a(card.as_bytes()),
            mark => fnv1a(format!("{card}\n{mark}").as_bytes()),
        };
        let (etag, vary) = (format!("\"{hash:016x}\""), "A2A-Version".to_owned());
        Self { etag, modified, fresh_seconds: FRESH_SECONDS, vary }
    }

    /// Sets how long clients may cache the card, in place of an hour.
    pub fn fresh_for(self, seconds: u32) -> Self {
        Self { fresh_seconds: seconds, ..self }
    }

    /// Names further request headers on which the card depends (`Vary`).
    pub fn varying_by(mut self, headers: &[String]) -> Self {
        for header in headers {
            self.vary.push_str(", ");
            self.vary.push_str(header);
        }
        self
    }

    /// Whether the client already has this card.
    pub fn is_known(&self, known: &Known) -> bool {
        match (&known.etag, &known.modified) {
            (Some(header), _) => matches_etag(header, &self.etag),
            (None, Some(header)) => is_since(header, self.modified),
            (None, None) => false,
        }
    }

    /// The answer with this body, which is the card with its signatures.
    pub fn answer(self, body: String) -> HttpResponse {
        self.with_headers(HttpResponse::json(200, body))
    }

    /// The answer to a client that already has the card.
    pub fn not_modified(self) -> HttpResponse {
        self.with_headers(HttpResponse::empty(304))
    }

    fn with_headers(self, response: HttpResponse) -> HttpResponse {
        response
            .with_header("etag", self.etag)
            .with_header("last-modified", self.modified)
            .with_header("cache-control", format!("public, max-age={}", self.fresh_seconds))
            .with_header("vary", self.vary)
    }
}

/// How long clients may cache a card by default: an hour, in seconds.
const FRESH_SECONDS: u32 = 3_600;

/// Whether an `If-Modified-Since` header names this date or a later one.
fn is_since(header: &str, modified: &str) -> bool {
    let [since, modified] = [header, modified].map(UnixMillis::parse_http_date);
    since.zip(modified).is_some_and(|(since, modified)| since >= modified)
}

/// Whether an `If-None-Match` header names this tag (weak comparison, RFC 9110 §13.1.2).
fn matches_etag(header: &str, etag: &str) -> bool {
    let mut tags = header.split(',').map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
        let found = response.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    const BUILT: &str = "Mon, 05 Jan 2026 09:00:00 GMT";

    fn knowing(etag: Option<&str>, modified: Option<&str>) -> HttpResponse {
        let known = Known { etag: etag.map(str::to_owned), modified: modified.map(str::to_owned) };
        let served = ServedCard::new("{}", "", BUILT);
        if served.is_known(&known) { served.not_modified() } else { served.answer("{}".to_owned()) }
    }

    #[test]
    fn urls_begin_with_the_origin() {
        let template = r#"{"url":"{origin}/demo"}"#;
        let body = at_origin(template, "http://localhost:8787");
        assert_eq!(body, r#"{"url":"http://localhost:8787/demo"}"#);
        let response = ServedCard::new(&body, "", BUILT).answer(body);
        assert_eq!(header(&response, "content-type"), Some("application/json"));
        assert_eq!(header(&response, "cache-control"), Some("public, max-age=3600"));
        assert_eq!(header(&response, "last-modified"), Some(BUILT));
    }

    #[test]
    fn what_somebody_else_says_of_an_origin_stays_as_it_is() {
        let foreign = verbatim("{origin} and {origin}/x");
        let template = format!(r#"{{"url":"{{origin}}/demo","told":"{foreign}"}}"#);
        let body = at_origin(&template, "https://a.example");
        let expected = r#"{"url":"https://a.example/demo","told":"{origin} and {origin}/x"}"#;
        assert_eq!(body, expected);
        assert_eq!(as_it_was(foreign), "{origin} and {origin}/x");
        // A text that was protected twice is restored, too, and its `{origin}` is not replaced.
        let twice = verbatim(&verbatim("{origin}"));
        assert_eq!(at_origin(&twice, "https://a.example"), "{origin}");
    }

    #[test]
    fn a_client_that_has_the_card_is_told_so() {
        let first = knowing(None, None);
        let etag = header(&first, "etag").unwrap();
        for known in
            [etag.to_owned(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()]
        {
            let again = knowing(Some(&known), None);
            assert_eq!((again.status, again.body.as_str()), (304, ""), "{known}");
            assert_eq!(header(&again, "etag"), Some(etag));
        }
        assert_eq!(knowing(Some("\"x\""), None).status, 200);
    }

    #[test]
    fn a_date_counts_where_no_tag_is_given() {
        for (since, status) in [
            (BUILT, 304),
            ("Mon, 05 Jan 2026 09:00:01 GMT", 304),
            ("Mon, 05 Jan 2026 08:59:59 GMT", 200),
            ("yesterday", 200),
        ] {
            assert_eq!(knowing(None, Some(since)).status, status, "{since}");
            assert_eq!(knowing(Some("\"x\""), Some(since)).status, 200, "{since}");
        }
    }

    #[test]
    fn another_origin_or_other_keys_make_another_card() {
        let tag = |card: &str, mark: &str| ServedCard::new(card, mark, BUILT).etag;
        assert_eq!(tag("a", "k"), tag("a", "k"));
        for (card, mark) in [("b", "k"), ("a", "l"), ("a", "")] {
            assert_ne!(tag(card, mark), tag("a", "k"));
        }
    }
}
