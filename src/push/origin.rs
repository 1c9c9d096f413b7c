//! The part of a webhook's URL that callers other than its owner may see.

/// The scheme, the host and the port of a URL; the rest may contain secrets.
pub fn origin_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}

/// The host of a URL, with the port if it names one; `None` if the text is no URL.
pub fn host_of(url: &str) -> Option<&str> {
    let authority = url.split("://").nth(1)?.split(['/', '\\', '?', '#']).next()?;
    // Without a user name and a password.
    authority.rsplit('@').next()
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

    #[test]
    fn of_a_url_only_the_host_is_logged() {
        for (url, host) in [
            ("https://example.com/hook?key=secret", Some("example.com")),
            ("https://example.com:8443#secret", Some("example.com:8443")),
            ("https://example.com?key=secret", Some("example.com")),
            ("https://user:secret@example.com/", Some("example.com")),
            ("nonsense", None),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }
}
