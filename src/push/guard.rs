//! The guard against server-side request forgery (spec §13.2): which URLs of other parties notifications and guarded requests of agents may
//! call.
//!
//! The guard checks URLs that the platform's parser has split, so each notation of an address has one form. It does not resolve
//! names: the platform has no resolver.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::config::Settings;

/// A URL in the parts of the WHATWG parser: lower case, IPv4 in dotted form, IPv6 in brackets, names in punycode.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Without the colon, for example `https`.
    pub scheme: &'a str,
    /// Empty if the URL has none.
    pub username: &'a str,
    /// Empty if the URL has none.
    pub password: &'a str,
    /// Without the port.
    pub host: &'a str,
    /// `None` for the default port of the scheme.
    pub port: Option<u16>,
}

/// The webhook policy of a deployment.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a> {
    /// The networks that webhooks may reach.
    pub reach: Reach,
    /// If not empty, only these hosts may be called; see [`Webhooks::hosts`](crate::config::Webhooks::hosts).
    pub hosts: &'a [String],
}

/// The networks that webhooks may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Public hosts only, by https.
    Public,
    /// Also this machine, by https or http.
    Loopback,
    /// Any host, by https or http.
    Private,
}

impl<'a> Policy<'a> {
    /// The policy of the settings.
    pub fn of(settings: &'a Settings) -> Self {
        let reach = match (settings.webhooks.allow_private, settings.development) {
            (true, _) => Reach::Private,
            (false, true) => Reach::Loopback,
            (false, false) => Reach::Public,
        };
        Self { reach, hosts: &settings.webhooks.hosts }
    }
}

/// Checks the URL of a webhook (spec §13.2).
///
/// # Errors
///
/// The rule that the URL breaks, as a text that continues the name of the field.
pub fn check_target(target: &Target, policy: Policy) -> Result<(), String> {
    let Target { scheme, username, password, host, port } = *target;
    if !matches!(scheme, "https" | "http") {
        return Err(format!("must begin with https://, got {scheme}:"));
    }
    if !username.is_empty() || !password.is_empty() {
        return Err("must hold no user name or password; they belong into authentication".into());
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() {
        return Err("must name a host".into());
    }
    let place = Place::of(host);
    let is_open = match policy.reach {
        Reach::Public => false,
        Reach::Loopback => place == Place::Loopback,
        Reach::Private => true,
    };
    if let (false, Some(what)) = (is_open, place.obstacle()) {
        return Err(format!("must name a host on the public internet; {host} is {what}"));
    }
    if !is_open && scheme == "http" {
        return Err("must begin with https://; by http anyone on the way could read it".into());
    }
    if let Some(port @ ..=1023) = port.filter(|port| *port != 443) {
        return Err(format!("must use port 443 or one from 1024 on, got {port}"));
    }
    let is_listed = |entry: &String| match entry.strip_prefix('*') {
        Some(domain) => host.len() > domain.len() && host.ends_with(domain),
        None => host == entry,
    };
    if !policy.hosts.is_empty() && !policy.hosts.iter().any(is_listed) {
        let why = "is not among those that this server may call";
        return Err(format!("must name a host that the operator has allowed; {host} {why}"));
    }
    Ok(())
}

/// The longest URL that is accepted, in bytes.
pub const MAX_URL_BYTES: usize = 2048;

/// The network of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Public,
    /// This machine.
    Loopback,
    /// Another network that is not public; the text describes it.
    Elsewhere(&'static str),
}

impl Place {
    fn of(host: &str) -> Self {
        if let Some(address) = host.strip_prefix('[') {
            let address = address.strip_suffix(']').and_then(|address| address.parse().ok());
            return address.map_or(Self::Elsewhere("no address"), Self::of_ipv6);
        }
        host.parse().map_or_else(|_| Self::of_name(host), Self::of_ipv4)
    }

    /// The sources are RFC 6890 and the registry of special-purpose addresses at IANA.
    fn of_ipv4(address: Ipv4Addr) -> Self {
        match address.octets() {
            [127, ..] => Self::Loopback,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => PRIVATE,
            [169, 254, ..] => LINK_LOCAL,
            [100, 64..=127, ..] => Self::Elsewhere("an address within a provider's network"),
            // Azure's channel between a virtual machine and its host. The address is in a public range, but is not a public host.
            [168, 63, 129, 16] => METADATA,
            [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => DOCUMENTATION,
            [198, 18..=19, ..] => Self::Elsewhere("an address for benchmarks"),
            [224..=239, ..] => MULTICAST,
            [255, 255, 255, 255] => Self::Elsewhere("the broadcast address"),
            [0 | 240..=255, ..] | [192, 0, 0, _] | [192, 88, 99, _] => RESERVED,
            _ => Self::Public,
        }
    }

    /// Addresses that embed an IPv4 address are always refused: the IPv4 address can be used directly.
    fn of_ipv6(address: Ipv6Addr) -> Self {
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 0] => Self::Elsewhere("the unspecified address"),
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Loopback,
            // The embedding forms are: compatible, mapped and translated addresses; NAT64, also with a network-specific prefix;
            // Teredo; 6to4.
            [0, 0, 0, 0, ..] | [0x64, 0xff9b, ..] | [0x2001, 0, ..] | [0x2002, ..] => EMBEDDED,
            [0x2001, 0..=0x1ff, ..] => RESERVED,
            [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => DOCUMENTATION,
            [0x2000..=0x3fff, ..] => Self::Public,
            [0x100, 0, 0, ..] => Self::Elsewhere("an address whose traffic is discarded"),
            [0xfc00..=0xfdff, ..] => PRIVATE,
            [0xfe80..=0xfebf, ..] => LINK_LOCAL,
            [0xfec0..=0xfeff, ..] => Self::Elsewhere("a site-local address"),
            [0xff00..=0xffff, ..] => MULTICAST,
            _ => RESERVED,
        }
    }

    fn of_name(host: &str) -> Self {
        let is_below = |domain: &str| {
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if is_below("localhost") {
            return Self::Loopback;
        }
        if host.split('.').any(str::is_empty) {
            return Self::Elsewhere("no name, a part of it is empty");
        }
        let is_of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !host.bytes().all(is_of_a_name) {
            return Self::Elsewhere("no name of a host");
        }
        let Some((_, top)) = host.rsplit_once('.') else {
            return Self::Elsewhere("a name without domain");
        };
        if top.starts_with(|first: char| first.is_ascii_digit()) {
            return Self::Elsewhere("no address");
        }
        let closed = DOMAINS.iter().find(|(domain, _)| is_below(domain));
        closed.map_or(Self::Public, |(_, place)| *place)
    }

    /// The reason why this host is not on the public internet; `None` if it is public.
    fn obstacle(self) -> Option<&'static str> {
        match self {
            Self::Public => None,
            Self::Loopback => Some("this server itself"),
            Self::Elsewhere(what) => Some(what),
        }
    }
}

const PRIVATE: Place = Place::Elsewhere("a private address");
const LINK_LOCAL: Place = Place::Elsewhere("a link-local address");
const MULTICAST: Place = Place::Elsewhere("a multicast address");
const RESERVED: Place = Place::Elsewhere("a reserved address");
const DOCUMENTATION: Place = Place::Elsewhere("an address for documentation");
const EMBEDDED: Place = Place::Elsewhere("an IPv4 address in the form of an IPv6 address");
const METADATA: Place = Place::Elsewhere("a metadata service");
const PRIVATE_NAME: Place = Place::Elsewhere("a name of a private network");
const RESERVED_NAME: Place = Place::Elsewhere("a name that is reserved and leads nowhere");
const ANY_ADDRESS: Place = Place::Elsewhere("another name for any address");

/// Domains that may not be called, including their subdomains: domains that never lead to the public internet, by reservation
/// (RFC 2606, 6761, 6762, 8375, 9476, ICANN's `internal`) or by common use; names of metadata services; and public domains that
/// have a name for each IP address.
const DOMAINS: [(&str, Place); 24] = [
    ("test", RESERVED_NAME),
    ("invalid", RESERVED_NAME),
    ("example", RESERVED_NAME),
    ("alt", RESERVED_NAME),
    ("local", PRIVATE_NAME),
    ("internal", PRIVATE_NAME),
    ("home.arpa", PRIVATE_NAME),
    ("localdomain", PRIVATE_NAME),
    ("intranet", PRIVATE_NAME),
    ("private", PRIVATE_NAME),
    ("corp", PRIVATE_NAME),
    ("home", PRIVATE_NAME),
    ("lan", PRIVATE_NAME),
    ("svc", PRIVATE_NAME),
    ("onion", PRIVATE_NAME),
    ("metadata.goog", METADATA),
    ("metadata.tencentyun.com", METADATA),
    ("metadata.packet.net", METADATA),
    ("metadata.platformequinix.com", METADATA),
    ("nip.io", ANY_ADDRESS),
    ("sslip.io", ANY_ADDRESS),
    ("xip.io", ANY_ADDRESS),
    ("localtest.me", ANY_ADDRESS),
    ("lvh.me", ANY_ADDRESS),
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Splits a URL that the WHATWG parser has written.
    fn target(url: &str) -> Target<'_> {
        let (scheme, rest) = url.split_once(':').unwrap();
        let authority = rest.strip_prefix("//").unwrap_or_default();
        let authority = authority.split(['/', '?', '#']).next().unwrap();
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (username, password) = user.split_once(':').unwrap_or((user, ""));
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().unwrap())),
            _ => (host, None),
        };
        Target { scheme, username, password, host, port }
    }

    fn check(url: &str, reach: Reach, hosts: &[&str]) -> Result<(), String> {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        check_target(&target(url), Policy { reach, hosts: &hosts })
    }

    fn table(name: &str) -> Vec<Value> {
        let text = include_str!("../../tests/e2e/webhook-urls.json");
        let tables: Value = serde_json::from_str(text).unwrap();
        tables[name].as_array().unwrap().clone()
    }

    #[test]
    fn hostile_urls_are_refused_however_they_are_written() {
        let parsed: Vec<String> = table("hostile")
            .iter()
            .filter_map(|entry| entry["parsed"].as_str().map(str::to_owned))
            .collect();
        assert!(parsed.len() > 60, "the table has become short");
        for url in parsed {
            let outcome = check(&url, Reach::Public, &[]);
            assert!(outcome.unwrap_err().starts_with("must "), "{url}");
        }
    }

    #[test]
    fn good_urls_are_taken() {
        let good = table("good");
        assert!(good.len() >= 15, "the table has become short");
        for entry in good {
            let url = entry["parsed"].as_str().unwrap();
            assert_eq!(check(url, Reach::Public, &[]), Ok(()), "{url}");
        }
    }

    #[test]
    fn the_edges_of_networks_are_where_they_should_be() {
        for (inside, outside) in [
            ("10.255.255.255", "11.0.0.0"),
            ("100.64.0.0", "100.63.255.255"),
            ("100.127.255.255", "100.128.0.0"),
            ("172.16.0.0", "172.15.255.255"),
            ("172.31.255.255", "172.32.0.0"),
            ("192.168.0.0", "192.167.255.255"),
            ("198.19.255.255", "198.20.0.0"),
            ("169.254.0.0", "169.255.0.0"),
            ("168.63.129.16", "168.63.129.17"),
            ("224.0.0.0", "223.255.255.255"),
            ("[2001:1ff::]", "[2001:200::]"),
            ("[2001:db8:ffff::]", "[2001:db9::]"),
            ("[2002:ffff::]", "[2003::]"),
            ("[3fff:fff::]", "[3fff:1000::]"),
            ("[4000::]", "[3ffe::]"),
            ("[1fff::]", "[2600::]"),
        ] {
            let url = |host: &str| format!("https://{host}/");
            assert!(check(&url(inside), Reach::Public, &[]).is_err(), "{inside}");
            assert_eq!(check(&url(outside), Reach::Public, &[]), Ok(()), "{outside}");
        }
    }

    #[test]
    fn development_opens_loopback_and_nothing_else() {
        for url in [
            "http://127.0.0.1:8080/",
            "http://localhost/",
            "https://app.localhost:3000/",
            "http://[::1]:9000/",
            "https://hooks.example.com/",
        ] {
            assert_eq!(check(url, Reach::Loopback, &[]), Ok(()), "{url}");
        }
        for url in [
            "http://hooks.example.com/",
            "http://10.0.0.1/",
            "https://192.168.1.1/",
            "http://0.0.0.0:8080/",
            "http://[::ffff:7f00:1]/",
            "http://user@localhost/",
            "http://localhost:22/",
            "http://localhost.example.com/",
        ] {
            assert!(check(url, Reach::Loopback, &[]).is_err(), "{url}");
        }
    }

    #[test]
    fn private_hosts_can_be_opened_but_not_all_rules_go() {
        for url in ["http://10.0.0.1/", "http://hooks:8080/", "https://[fd00::1]/", "http://a.b/"] {
            assert_eq!(check(url, Reach::Private, &[]), Ok(()), "{url}");
        }
        for url in ["http://user:secret@10.0.0.1/", "ftp://10.0.0.1/", "http://10.0.0.1:25/"] {
            assert!(check(url, Reach::Private, &[]).is_err(), "{url}");
        }
    }

    #[test]
    fn a_list_of_hosts_excludes_all_others() {
        let hosts = ["hooks.example.com", "*.partner.example.org"];
        for url in [
            "https://hooks.example.com/",
            "https://hooks.example.com.:8443/",
            "https://a.partner.example.org/",
            "https://a.b.partner.example.org/",
        ] {
            assert_eq!(check(url, Reach::Public, &hosts), Ok(()), "{url}");
        }
        for url in [
            "https://example.com/",
            "https://a.hooks.example.com/",
            "https://partner.example.org/",
            "https://evilpartner.example.org/",
            "https://partner.example.org.evil.example.org/",
        ] {
            assert!(check(url, Reach::Public, &hosts).is_err(), "{url}");
        }
        assert!(check("https://10.0.0.1/", Reach::Public, &["10.0.0.1"]).is_err(), "opens nothing");
        assert!(check("http://localhost/", Reach::Loopback, &hosts).is_err());
    }

    #[test]
    fn a_refusal_says_what_is_wrong_and_what_would_be_right() {
        for (url, expected) in [
            ("http://hooks.example.com/", "must begin with https://"),
            ("ftp://hooks.example.com/", "must begin with https://, got ftp:"),
            ("https://10.0.0.1/", "10.0.0.1 is a private address"),
            ("https://localhost/", "localhost is this server itself"),
            ("https://[::ffff:7f00:1]/", "in the form of an IPv6 address"),
            ("https://a.example.com:22/", "must use port 443 or one from 1024 on, got 22"),
        ] {
            let text = check(url, Reach::Public, &[]).unwrap_err();
            assert!(text.contains(expected), "{text}");
        }
        let text = check("https://me:hush@a.example.com/", Reach::Public, &[]).unwrap_err();
        assert!(text.contains("authentication") && !text.contains("hush"), "{text}");
    }
}
