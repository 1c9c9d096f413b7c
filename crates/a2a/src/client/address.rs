//! Parses URLs of agents into the parts that identify the host of a request.
//!
//! Platforms parse unusual URLs in different ways, and credentials are sent only to certain hosts. So a URL that two parsers could read
//! differently is rejected.

use super::ClientError;

/// An absolute URL of http or https, without user and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    is_secure: bool,
    /// The host in lower case.
    host: String,
    /// `None` for the default port of the scheme.
    port: Option<u16>,
    /// The path, which begins with a slash.
    path: String,
    /// The query with its question mark; empty if there is no query.
    query: String,
}

impl Address {
    /// Parses a URL; `None` if it is not an unambiguous absolute URL of http or https.
    pub(super) fn parse(url: &str) -> Option<Self> {
        let is_plain = |letter: char| letter.is_ascii_graphic() && letter != '\\';
        let url = url.trim();
        if !url.chars().all(is_plain) {
            return None;
        }
        let (scheme, rest) = url.split_once("://")?;
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse::<u16>().ok()?)),
            Some(_) | None => (authority, None),
        };
        if !is_host(host) {
            return None;
        }
        let (path, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        let default = if is_secure { 443 } else { 80 };
        Some(Self {
            is_secure,
            host: host.to_ascii_lowercase(),
            port: port.filter(|port| *port != default),
            path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
            query: query.to_owned(),
        })
    }

    /// Parses the agent's URL in the settings.
    ///
    /// # Errors
    ///
    /// If the client cannot call this URL.
    pub(super) fn of_settings(url: &str) -> Result<Self, ClientError> {
        let wrong = "the URL of the agent must be an absolute one of http or https, of plain ASCII and without a user, as https://agent.example/x";
        Self::parse(url).ok_or_else(|| ClientError::Settings(wrong.to_owned()))
    }

    /// The scheme, host and port, as the beginning of a URL.
    pub(super) fn origin(&self) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        match self.port {
            Some(port) => format!("{scheme}://{}:{port}", self.host),
            None => format!("{scheme}://{}", self.host),
        }
    }

    /// The whole URL.
    pub(super) fn url(&self) -> String {
        format!("{}{}{}", self.origin(), self.path, self.query)
    }

    /// The path, which begins with a slash.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// True if the host is this machine, where plain HTTP is allowed.
    pub(super) fn is_local(&self) -> bool {
        let is_loopback = self.host.starts_with("127.") || self.host == "[::1]";
        is_loopback || self.host == "localhost" || self.host.ends_with(".localhost")
    }

    /// True if the address has this host: the host's name, followed by the port unless it is the default port of the
    /// scheme.
    pub(super) fn is_at(&self, host: &str) -> bool {
        let own =
            self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host));
        own.eq_ignore_ascii_case(host)
    }

    /// True if secrets may be sent to this address: the connection is encrypted, or stays on this machine.
    pub(super) fn is_safe(&self) -> bool {
        self.is_secure || self.is_local()
    }

    /// True if a request to `target` may contain the credentials for this address: both have the same origin, or `target` is the same
    /// host with https instead of http, both on default ports.
    pub(super) fn is_home_of(&self, target: &Self) -> bool {
        let is_upgrade =
            !self.is_secure && target.is_secure && self.port.is_none() && target.port.is_none();
        let is_same = self.is_secure == target.is_secure && self.port == target.port;
        self.host == target.host && (is_same || is_upgrade)
    }

    /// True if `target` is the same host as this address, but without TLS.
    pub(super) fn is_downgrade(&self, target: &Self) -> bool {
        self.host == target.host && self.is_secure && !target.is_secure
    }

    /// Resolves a reference from this address (RFC 3986 §5.2). Dot segments are left in the path: platforms remove
    /// them.
    pub(super) fn join(&self, reference: &str) -> Option<Self> {
        let reference = reference.trim();
        if reference.contains("://") {
            return Self::parse(reference);
        }
        let scheme = if self.is_secure { "https" } else { "http" };
        if reference.starts_with("//") {
            return Self::parse(&format!("{scheme}:{reference}"));
        }
        let before = match reference.chars().next() {
            Some('/') => String::new(),
            Some('?' | '#') | None => self.path.clone(),
            Some(_) => {
                let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{folder}/")
            }
        };
        Self::parse(&format!("{}{before}{reference}", self.origin()))
    }

    /// The same path and query on the host of `origin`.
    pub(super) fn moved_to(self, origin: &Self) -> Self {
        let Self { is_secure, host, port, .. } = origin.clone();
        Self { is_secure, host, port, ..self }
    }
}

/// True if the text is the name or the IP address of a host.
fn is_host(host: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => {
            !inner.is_empty()
                && inner.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
        }
        None => !host.is_empty() && host.bytes().all(is_name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::parse(url).unwrap_or_else(|| panic!("{url}"))
    }

    #[test]
    fn a_url_is_read_in_one_way_or_not_at_all() {
        for (url, whole) in [
            ("https://A.Example", "https://a.example/"),
            ("HTTPS://a.example:443/x?y=1#z", "https://a.example/x?y=1"),
            ("http://a.example:8080/x/", "http://a.example:8080/x/"),
            ("http://[::1]:80/x", "http://[::1]/x"),
            ("https://a.example?key=1", "https://a.example/?key=1"),
            (" https://a.example/ ", "https://a.example/"),
        ] {
            assert_eq!(address(url).url(), whole, "{url}");
        }
        for url in [
            "",
            "a.example/x",
            "ftp://a.example",
            "https://",
            "https:///x",
            "https://user:word@a.example/",
            "https://good.example\\@evil.example/",
            "https://good.example%2f@evil.example/",
            "https://a.example:99999/",
            "https://a.example:/",
            "https://a.example/a b",
            "https://a.exa\tmple/",
            "https://\u{e9}.example/",
            "https://[]/",
            "//a.example/x",
        ] {
            assert_eq!(Address::parse(url), None, "{url}");
        }
    }

    #[test]
    fn credentials_of_an_address_are_for_its_origin_and_its_own_https() {
        for (home, target, expected) in [
            ("https://a.example/x", "https://A.EXAMPLE:443/y", true),
            ("http://a.example", "https://a.example/y", true),
            ("https://a.example", "http://a.example/", false),
            ("https://a.example", "https://a.example.evil.example/", false),
            ("https://a.example", "https://b.a.example/", false),
            ("https://a.example", "https://a.example:8443/", false),
            ("http://a.example:8080", "https://a.example/", false),
            ("http://127.0.0.1:1", "http://127.0.0.1:2", false),
        ] {
            assert_eq!(address(home).is_home_of(&address(target)), expected, "{home} {target}");
        }
        assert!(address("https://a.example").is_downgrade(&address("http://a.example:80/")));
        assert!(!address("https://a.example").is_downgrade(&address("http://b.example/")));
    }

    #[test]
    fn references_lead_from_where_they_stand() {
        let base = address("https://a.example/x/card.json?q=1");
        for (reference, expected) in [
            ("https://b.example/y", Some("https://b.example/y")),
            ("//b.example/y", Some("https://b.example/y")),
            ("/y?z=1", Some("https://a.example/y?z=1")),
            ("y", Some("https://a.example/x/y")),
            ("?z", Some("https://a.example/x/card.json?z")),
            ("", Some("https://a.example/x/card.json")),
            ("ftp://b.example", None),
        ] {
            let found = base.join(reference).map(|found| found.url());
            assert_eq!(found.as_deref(), expected, "{reference}");
        }
        assert_eq!(
            address("https://a.example").join("y").map(|it| it.url()).as_deref(),
            Some("https://a.example/y")
        );
        let moved = address("http://inner:8000/a2a?x=1").moved_to(&base);
        assert_eq!(moved.url(), "https://a.example/a2a?x=1");
    }

    #[test]
    fn secrets_go_in_clear_text_to_this_machine_alone() {
        for (url, is_safe) in [
            ("https://a.example", true),
            ("http://localhost:1", true),
            ("http://127.0.0.1", true),
            ("http://[::1]", true),
            ("http://a.example", false),
            ("http://localhost.example", false),
        ] {
            assert_eq!(address(url).is_safe(), is_safe, "{url}");
        }
    }
}
