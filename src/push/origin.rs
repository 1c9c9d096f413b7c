//! The part of a webhook's URL that callers other than its owner may see.

/// The scheme, the host and the port of a URL; the rest may contain secrets.
pub fn origin_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_url_an_operator_sees_where_it_leads() {
        for (url, origin) in [
            ("https://a.example/secret?token=x#y", "https://a.example"),
            ("https://user:pass@a.example:8443/x", "https://a.example:8443"),
            ("https://a.example?token=x", "https://a.example"),
            ("https://a.example#token", "https://a.example"),
            ("https://user:p@ss@a.example/@b", "https://a.example"),
            ("https://a.example\\secret", "https://a.example"),
            ("http://[::1]:8787/x", "http://[::1]:8787"),
        ] {
            assert_eq!(origin_of(url), origin);
        }
    }
}
