//! The head of a request: everything but its body, as `js/hop.js` hands it over in one text.

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head<'a> {
    method: &'a str,
    url: &'a str,
    headers: Vec<(&'a str, &'a str)>,
}

impl<'a> Head<'a> {
    /// Reads a head: a line for the method, one for the URL, and for each header one for its name, in lower case,
    /// and one for its value. None of them can hold a line break.
    pub(super) fn parse(text: &'a str) -> Self {
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
    pub(super) fn method(&self) -> &'a str {
        self.method
    }

    /// The whole URL.
    pub(super) fn url(&self) -> &'a str {
        self.url
    }

    /// The headers that are handed over, names in lower case.
    pub(super) fn headers(&self) -> &[(&'a str, &'a str)] {
        &self.headers
    }

    /// The value of the header of this name, which is one of [`NAMES`] or of a policy.
    pub(super) fn header(&self, name: &str) -> Option<&'a str> {
        let found = self.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }
}

/// The headers that are handed over for every Worker; those of policies come on top. To ask the platform for each of them costs a fraction of going through all.
pub(super) const NAMES: [&str; 14] = [
    "a2a-extensions",
    "a2a-version",
    "accept",
    "access-control-request-headers",
    "after-generation",
    "content-type",
    "idempotency-key",
    "if-generation-match",
    "if-modified-since",
    "if-none-match",
    "last-event-id",
    "prefer",
    "run-timeout-ms",
    "x-a2a-extensions",
];

/// The number of headers that most requests have at most.
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
}
