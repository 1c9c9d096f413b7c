//! Answers as values, and the headers of every answer.

use std::borrow::Cow;

use serde_json::{Value, json};

pub use super::header::OWS;
use super::media_type::MediaType;
use crate::error::Error;

/// Splits an absolute URL, in the platform's form, into origin, path and query (empty if there is none).
pub fn split_url(url: &str) -> (&str, &str, &str) {
    let url = url.split_once('#').map_or(url, |(url, _)| url);
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let host_at = url.find("://").map_or(0, |at| at + 3);
    let host = url.get(host_at..).unwrap_or_default();
    let path_at = host_at + host.find('/').unwrap_or(host.len());
    let (origin, path) = url.split_at(path_at);
    (origin, path, query)
}

/// An HTTP answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The headers in addition to those of [`COMMON`], with names in lower case.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body.
    pub body: String,
}

impl HttpResponse {
    /// A JSON answer.
    pub fn json(status: u16, body: String) -> Self {
        Self::of_type(status, MediaType::Json, body)
    }

    /// An answer with this media type.
    pub fn of_type(status: u16, media_type: MediaType, body: String) -> Self {
        Self { status, headers: Vec::new(), body }.with_header("content-type", media_type.as_str())
    }

    /// An answer without body.
    pub fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    /// Adds a header.
    pub fn with_header(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
    ) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// An error outside of any JSON-RPC call, as `google.rpc.Status` (spec §11.6).
    pub fn error(error: &Error) -> Self {
        Self::error_with(error, &[])
    }

    /// The same error with additional members outside of the member `error`.
    pub(crate) fn error_with(error: &Error, members: &[(&str, Value)]) -> Self {
        let wire = error.wire();
        let mut body = json!({"error": {
            "code": wire.http,
            "status": wire.status,
            "message": error.to_string(),
            "details": error.details(),
        }});
        if let Value::Object(body) = &mut body {
            for (name, value) in members {
                body.insert((*name).to_owned(), value.clone());
            }
        }
        Self::json(wire.http, body.to_string()).with_headers(wire.headers)
    }

    /// Adds headers.
    pub fn with_headers<N: Into<Cow<'static, str>>>(
        self,
        headers: impl IntoIterator<Item = (N, String)>,
    ) -> Self {
        let with = |response: Self, (name, value)| response.with_header(name, value);
        headers.into_iter().fold(self, with)
    }

    /// The answer to a CORS preflight for these request headers, or to any other OPTIONS request. A page may send any
    /// headers; only the syntax of their names is checked.
    pub fn options(allowed: &'static str, requested_headers: Option<&str>) -> Self {
        let response = Self::empty(204)
            .with_header("allow", allowed)
            .with_header("access-control-max-age", "86400")
            .with_header("vary", "Access-Control-Request-Headers");
        let [(methods, all_methods), (headers, of_protocol)] = PREFLIGHT;
        let requested = requested_headers.filter(|names| are_header_names(names));
        response
            .with_header(methods, all_methods)
            .with_header(headers, requested.unwrap_or(of_protocol))
    }
}

/// Whether a text is a list of header names that may be repeated in an answer.
fn are_header_names(text: &str) -> bool {
    let is_token = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        !name.is_empty() && name.chars().all(allowed)
    };
    text.len() <= MAX_REQUESTED_BYTES
        && text.split(',').all(|name| is_token(name.trim_matches(OWS)))
}

/// The longest list of headers in a preflight, in bytes.
const MAX_REQUESTED_BYTES: usize = 4096;

/// The headers of every answer: pages of any origin may call agents, and browsers must not guess the type of an answer.
///
/// The headers allow no credentials, so a browser hides answers that depend on cookies. If an agent lists the origins of
/// its pages, the server replaces `*` by one origin.
pub const COMMON: [(&str, &str); 3] = [
    ("access-control-allow-origin", "*"),
    (
        "access-control-expose-headers",
        "A2A-Extensions, ETag, Generation, Retry-After, WWW-Authenticate, X-A2A-Extensions, X-Request-Id",
    ),
    ("x-content-type-options", "nosniff"),
];

/// The headers of the answer to a preflight, in addition to [`COMMON`]; browsers read them only there. If the preflight
/// lists request headers, its list replaces the one here.
pub const PREFLIGHT: [(&str, &str); 2] = [
    ("access-control-allow-methods", "GET, HEAD, POST, DELETE, OPTIONS"),
    (
        "access-control-allow-headers",
        "A2A-Version, A2A-Extensions, X-A2A-Extensions, Authorization, Content-Type, \
         Idempotency-Key, Last-Event-ID, If-Generation-Match, After-Generation, Prefer, \
         Run-Timeout-Ms",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preflight_is_allowed_what_it_asks_for() {
        let allowed = |requested: Option<&str>| {
            let response = HttpResponse::options("GET", requested);
            let mut headers = response.headers.into_iter();
            headers
                .find(|(name, _)| *name == "access-control-allow-headers")
                .map(|(_, value)| value)
        };
        let [_, (_, of_protocol)] = PREFLIGHT;
        for names in ["traceparent", "x-api-key, traceparent,a2a-version", "X-Odd!#$%&'*+-.^_`|~"] {
            assert_eq!(allowed(Some(names)).as_deref(), Some(names));
        }
        let long = "x".repeat(4097);
        for names in ["", ",", "a,,b", "a b", "a\r\nb", "ä", "a;b", "*,(", long.as_str()] {
            assert_eq!(allowed(Some(names)).as_deref(), Some(of_protocol), "{names:?}");
        }
        assert_eq!(allowed(None).as_deref(), Some(of_protocol));
    }

    #[test]
    fn urls_are_cut_into_origin_path_and_query() {
        for (url, parts) in [
            ("http://localhost:8787/", ("http://localhost:8787", "/", "")),
            ("https://a.example/b/c?d=/e?f", ("https://a.example", "/b/c", "d=/e?f")),
            ("https://a.example?x", ("https://a.example", "", "x")),
            ("https://a.example/b#c?d", ("https://a.example", "/b", "")),
        ] {
            assert_eq!(split_url(url), parts, "{url}");
        }
    }
}
