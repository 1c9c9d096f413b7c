//! The head of a request: the method, the URL and some headers, which `js/hop.js` passes as one text.

use crate::trail::Trail;
use a2a::binding::http::HttpResponse;
use a2a::http::trace::TraceContext;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    method: &'a str,
    url: &'a str,
    headers: Vec<(&'a str, &'a str)>,
}

impl<'a> Head<'a> {
    /// Reads a head: one line for the method, one for the URL, and two for each header: its name in lower case, and its
    /// value. None of these texts can contain a line break.
    pub(crate) fn parse(text: &'a str) -> Self {
        let mut lines = text.split('\n');
        let mut line = || lines.next();
        let (method, url) = (line().unwrap_or_default(), line().unwrap_or_default());
        let mut headers = Vec::with_capacity(TYPICAL_HEADERS);
        while let (Some(name), Some(value)) = (line(), line()) {
            headers.push((name, value));
        }
        Self { method, url, headers }
    }

    /// The method, in upper case.
    pub(crate) fn method(&self) -> &'a str {
        self.method
    }

    /// The whole URL.
    pub(crate) fn url(&self) -> &'a str {
        self.url
    }

    /// The answer to an OPTIONS request at a path with these allowed methods.
    pub(crate) fn preflight(&self, allowed: &'static str) -> HttpResponse {
        HttpResponse::options(allowed, self.header("access-control-request-headers"))
    }

    /// The ids by which operators find the request in logs: the id of the request and its trace.
    pub(crate) fn trail(&self) -> Trail {
        let trace = self
            .header("traceparent")
            .and_then(|parent| TraceContext::read(parent, self.header("tracestate")));
        Trail::new(self.header(REQUEST), trace)
    }

    /// The headers that JavaScript has passed, with names in lower case.
    pub(crate) fn headers(&self) -> &[(&'a str, &'a str)] {
        &self.headers
    }

    /// The value of the header with this name, which must be in [`names_for`] its method or belong to a policy.
    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        let found = self.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }
}

/// The name of the entry in which `js/hop.js` passes the id of the request. No client can send a header with this name.
pub(crate) const REQUEST: &str = ":request";

/// The name of the entry that an observed request has: the id of the client's span, or nothing if there is none; `traceparent` then
/// names the span of the request itself. `-` if no trace records the request.
pub(crate) const OBSERVED: &str = ":observed";

/// The headers that every Worker passes in a head of a request with this method. The headers of policies and those that
/// [`Head::trail`] reads are added to them. Reading each of these headers from the platform costs a fraction of iterating
/// over all headers.
pub(crate) fn names_for(method: &str) -> impl Iterator<Item = &'static str> {
    let own: &[&str] = match method {
        "POST" => &[],
        "OPTIONS" => &PREFLIGHT,
        _ => &CONDITIONS,
    };
    NAMES.iter().chain(own).copied()
}

/// True if heads contain the header with this name whatever the policies of agents read.
pub(crate) fn is_passed(name: &str) -> bool {
    NAMES.iter().chain(&PREFLIGHT).chain(&CONDITIONS).any(|known| *known == name)
}

/// The headers of preflights.
const PREFLIGHT: [&str; 1] = ["access-control-request-headers"];

/// The headers of conditional requests for documents.
const CONDITIONS: [&str; 2] = ["if-modified-since", "if-none-match"];

/// The headers of requests of all methods.
const NAMES: [&str; 11] = [
    "a2a-extensions",
    "a2a-version",
    "accept",
    "after-generation",
    "content-type",
    "idempotency-key",
    "if-generation-match",
    "last-event-id",
    "prefer",
    "run-timeout-ms",
    "x-a2a-extensions",
];

/// The head of a request: those of `headers` that `is_kept` selects, with names in lower case, and the headers in
/// `more`. No line break remains in a value.
pub(crate) fn head_of<'a>(
    method: &str,
    url: &str,
    headers: &[(String, String)],
    is_kept: impl Fn(&str) -> bool,
    more: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    let clean = |text: &str| text.replace(['\n', '\r'], " ");
    let mut text = format!("{method}\n{}", clean(url));
    let mut add = |name: &str, value: &str| {
        text.push('\n');
        text.push_str(name);
        text.push('\n');
        text.push_str(&clean(value));
    };
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        if is_kept(&name) {
            add(&name, value);
        }
    }
    for (name, value) in more {
        add(name, value);
    }
    text
}

/// The headers of a trace.
pub(crate) const TRACE: [&str; 2] = ["traceparent", "tracestate"];

/// The number of headers that most requests do not exceed.
const TYPICAL_HEADERS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_a_method_a_url_and_headers() {
        let head = Head::parse(
            "POST\nhttps://a.example/b?c\naccept\nprefer\nidempotency-key\n\na2a-version\n1.0",
        );
        assert_eq!((head.method(), head.url()), ("POST", "https://a.example/b?c"));
        assert_eq!(head.header("accept"), Some("prefer"));
        assert_eq!(head.header("idempotency-key"), Some(""));
        assert_eq!(head.header("a2a-version"), Some("1.0"));
        assert_eq!(head.header("prefer"), None, "a value is no name");
        assert_eq!(Head::parse("GET\nhttps://a.example/").header("accept"), None);
    }

    #[test]
    fn a_head_says_what_its_request_is_found_again_by() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        for (headers, request, state) in [
            (
                format!("\ntraceparent\n{parent}\ntracestate\na=1\n:request\n8f2d-FRA"),
                Some("8f2d-FRA"),
                Some("a=1"),
            ),
            (format!("\ntraceparent\n{parent}\ntracestate\n\n:request\na b"), None, None),
        ] {
            let text = format!("GET\nhttps://a.example/{headers}");
            let trail = Head::parse(&text).trail();
            let trace = trail.trace.expect("a valid parent");
            assert_eq!((trail.request.as_deref(), trace.tracestate()), (request, state));
            assert_eq!(trace.traceparent(), parent);
        }
        let trail = Head::parse("GET\nhttps://a.example/\ntraceparent\nx\ntracestate\na=1").trail();
        assert!(trail.is_empty(), "a state without a parent is none");
    }
}
