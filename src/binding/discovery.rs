//! Serving agent cards (spec §8).

use std::hash::{DefaultHasher, Hash, Hasher};

use super::http::HttpResponse;
use crate::agent::ORIGIN;

/// The card for a request that came in at `origin`: 200, or 304 when the client has it already.
pub fn card(template: &str, origin: &str, if_none_match: Option<&str>) -> HttpResponse {
    let body = template.replace(ORIGIN, origin);
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let etag = format!("\"{:016x}\"", hasher.finish());
    let is_known = if_none_match.is_some_and(|known| matches_etag(known, &etag));
    let response = if is_known { HttpResponse::empty(304) } else { HttpResponse::json(200, body) };
    response.with_header("etag", etag).with_header("cache-control", "public, max-age=3600")
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

    #[test]
    fn urls_begin_with_the_origin() {
        let response = card(r#"{"url":"{origin}/demo"}"#, "http://localhost:8787", None);
        assert_eq!(response.body, r#"{"url":"http://localhost:8787/demo"}"#);
        assert_eq!(header(&response, "content-type"), Some("application/json"));
        assert_eq!(header(&response, "cache-control"), Some("public, max-age=3600"));
    }

    #[test]
    fn a_client_that_has_the_card_is_told_so() {
        let first = card("{}", "", None);
        let etag = header(&first, "etag").unwrap();
        for known in
            [etag.to_owned(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()]
        {
            let again = card("{}", "", Some(&known));
            assert_eq!((again.status, again.body.as_str()), (304, ""), "{known}");
            assert_eq!(header(&again, "etag"), Some(etag));
        }
        assert_eq!(card("{}", "", Some("\"x\"")).status, 200);
    }

    #[test]
    fn another_origin_is_another_card() {
        let tag = |origin| header(&card("{origin}", origin, None), "etag").unwrap().to_owned();
        assert_ne!(tag("http://a"), tag("http://b"));
    }
}
