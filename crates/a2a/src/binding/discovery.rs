//! Serving agent cards (spec §8).

use super::http::HttpResponse;
use crate::model::{UnixMillis, fnv1a};

/// What stands for the origin in a card that was made while building.
pub const ORIGIN: &str = "{origin}";

/// What a client says about the card that it has (RFC 9110 §13.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// `If-None-Match`.
    pub etag: Option<String>,
    /// `If-Modified-Since`; heeded without the other one only.
    pub modified: Option<String>,
}

/// The card for a request that came in at `origin`: 200, or 304 when the client has it already.
/// `modified` is the HTTP date on which the agent files were built.
pub fn card(template: &str, origin: &str, modified: &str, known: &Known) -> HttpResponse {
    let body = template.replace(ORIGIN, origin);
    let etag = format!("\"{:016x}\"", fnv1a(body.as_bytes()));
    let is_known = match (&known.etag, &known.modified) {
        (Some(header), _) => matches_etag(header, &etag),
        (None, Some(header)) => is_since(header, modified),
        (None, None) => false,
    };
    let response = if is_known { HttpResponse::empty(304) } else { HttpResponse::json(200, body) };
    response
        .with_header("etag", etag)
        .with_header("last-modified", modified)
        .with_header("cache-control", "public, max-age=3600")
}

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
        card("{}", "", BUILT, &known)
    }

    #[test]
    fn urls_begin_with_the_origin() {
        let template = r#"{"url":"{origin}/demo"}"#;
        let response = card(template, "http://localhost:8787", BUILT, &Known::default());
        assert_eq!(response.body, r#"{"url":"http://localhost:8787/demo"}"#);
        assert_eq!(header(&response, "content-type"), Some("application/json"));
        assert_eq!(header(&response, "cache-control"), Some("public, max-age=3600"));
        assert_eq!(header(&response, "last-modified"), Some(BUILT));
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
    fn another_origin_is_another_card() {
        let tag = |origin| {
            let response = card("{origin}", origin, BUILT, &Known::default());
            header(&response, "etag").unwrap().to_owned()
        };
        assert_ne!(tag("http://a"), tag("http://b"));
    }
}
