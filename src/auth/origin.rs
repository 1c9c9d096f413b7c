//! Protection against pages of another origin that cause a browser to send a request (CSRF). The browser adds credentials to
//! the request that the page itself cannot read, for example cookies.

use super::Evidence;
use a2a::binding::MediaType;

/// Checks a request whose credential a browser adds by itself.
///
/// A page of the agent's own origin or of one of `allowed_origins` may send the request. If a browser sends no `Origin`, for example
/// when it follows a link, `Sec-Fetch-Site` describes the origin of the page: a page of a neighbouring host (`same-site`) counts as
/// another origin. Programs other than browsers send neither header. A body must be declared as JSON, which forms and beacons cannot
/// do.
///
/// # Errors
///
/// The reason why the request is refused, for the client.
pub(super) fn check_origin(
    evidence: &Evidence<'_>,
    allowed_origins: &[String],
) -> Result<(), &'static str> {
    let origin = evidence.header("origin");
    let is_listed =
        origin.is_some_and(|origin| allowed_origins.iter().any(|allowed| allowed == origin));
    if origin.is_some_and(|origin| !is_listed && origin != evidence.origin) {
        return Err(FOREIGN);
    }
    // Any unknown value counts as a foreign page.
    let site = evidence.header("sec-fetch-site").unwrap_or("none");
    if !is_listed && !["same-origin", "none"].contains(&site) {
        return Err(FOREIGN);
    }
    if evidence.method == "POST" {
        let content_type = MediaType::of_body(evidence.header("content-type"));
        if !matches!(content_type, Ok(Some(_))) {
            return Err("a request with a cookie must have the content type application/json");
        }
    }
    Ok(())
}

const FOREIGN: &str = "credentials that a browser adds by itself count only in requests of pages of the agent's own \
                       origin, or of an origin in `allowed_origins`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_pages_are_refused() {
        let own = "https://agents.example";
        let json = ("content-type", "application/json");
        for (headers, is_taken) in [
            (vec![json], true),
            (vec![json, ("origin", own)], true),
            (vec![json, ("origin", "https://app.example")], true),
            (vec![json, ("origin", own), ("sec-fetch-site", "same-origin")], true),
            (vec![json, ("sec-fetch-site", "none")], true),
            (vec![json, ("sec-fetch-site", "same-site")], false),
            (vec![json, ("origin", own), ("sec-fetch-site", "same-site")], false),
            (vec![json, ("origin", ""), ("sec-fetch-site", "same-site")], false),
            (vec![json, ("origin", ""), ("sec-fetch-site", "same-origin")], false),
            (vec![json, ("sec-fetch-site", "same-origin\u{a0}")], false),
            (vec![json, ("sec-fetch-site", "")], false),
            (vec![json, ("origin", "https://agents.example\u{a0}")], false),
            (vec![("content-type", "application/json\u{a0}")], false),
            (vec![json, ("origin", "https://app.example"), ("sec-fetch-site", "same-site")], true),
            (vec![json, ("origin", "https://app.example"), ("sec-fetch-site", "cross-site")], true),
            (vec![("content-type", "application/a2a+json; charset=utf-8")], true),
            (vec![json, ("origin", "https://evil.example")], false),
            (vec![json, ("origin", "null")], false),
            (vec![json, ("origin", "")], false),
            (vec![json, ("origin", "http://agents.example")], false),
            (vec![json, ("origin", "https://agents.example:8443")], false),
            (vec![json, ("origin", "https://agents.example.evil.example")], false),
            (vec![json, ("origin", "https://AGENTS.example")], false),
            (vec![json, ("origin", "https://app.example, https://evil.example")], false),
            (vec![json, ("sec-fetch-site", "cross-site")], false),
            (vec![json, ("sec-fetch-site", "Cross-Site")], false),
            (vec![json, ("sec-fetch-site", "same-origin, cross-site")], false),
            (vec![json, ("origin", own), ("sec-fetch-site", "cross-site")], false),
            (vec![], false),
            (vec![("content-type", "text/plain")], false),
            (vec![("content-type", "application/x-www-form-urlencoded")], false),
            (vec![("content-type", "multipart/form-data; boundary=application/json")], false),
        ] {
            let evidence = Evidence { method: "POST", origin: own, query: "", headers: &headers };
            let checked = check_origin(&evidence, &["https://app.example".to_owned()]);
            assert_eq!(checked.is_ok(), is_taken, "{headers:?}");
        }
        let evidence = Evidence { method: "GET", origin: own, query: "", headers: &[] };
        assert_eq!(check_origin(&evidence, &[]), Ok(()));
        // A link on a page of a neighbouring host: the browser sends no `Origin`.
        let evidence = Evidence { headers: &[("sec-fetch-site", "same-site")], ..evidence };
        assert_eq!(check_origin(&evidence, &[]), Err(FOREIGN));
    }
}
