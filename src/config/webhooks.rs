//! The allowed targets of notifications.

use super::ConfigError;
use super::variables::Variables;

/// The allowed targets of notifications. Without any of these settings: public hosts by https, and with `DEVELOPMENT`
/// also loopback hosts by https or http.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Webhooks {
    /// `WEBHOOK_ALLOW_PRIVATE`: also allows private hosts, and http, for conformance runs and tests. Never set it if
    /// untrusted clients register webhooks.
    pub allow_private: bool,
    /// `WEBHOOK_HOSTS`: if not empty, only these hosts are allowed, for example `hooks.example.com, *.example.org`.
    /// `*.` matches all hosts below a domain, but not the domain itself; it is refused before a top-level domain or
    /// public suffix. The list only restricts: it does not allow a host that is refused without the list.
    pub hosts: Vec<String>,
}

impl Webhooks {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// Returned for the first variable whose value cannot be used.
    pub(super) fn read(variables: Variables<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            allow_private: variables.switch("WEBHOOK_ALLOW_PRIVATE")?,
            hosts: parse_hosts(&variables.text("WEBHOOK_HOSTS").unwrap_or_default())?,
        })
    }
}

/// Parses a list of hosts in the normal form of URLs.
fn parse_hosts(text: &str) -> Result<Vec<String>, ConfigError> {
    let mut hosts = Vec::new();
    for host in text.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        let name = host.strip_prefix("*.").unwrap_or(host);
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || ".-_:[]".contains(letter);
        let refused =
            |wanted: &str| Err(ConfigError { name: "WEBHOOK_HOSTS", wanted: wanted.to_owned() });
        if name.is_empty() || name.starts_with('.') || !name.chars().all(allowed) {
            return refused("a list such as hooks.example.com, *.example.org");
        }
        if name != host && is_public_suffix(name) {
            return refused(
                "a list in which a star stands below a domain of somebody, as *.example.org",
            );
        }
        hosts.push(host.to_ascii_lowercase());
    }
    Ok(hosts)
}

/// True if unrelated owners can register names directly below this domain: a top-level domain, or a public suffix of a
/// country such as `co.uk`.
fn is_public_suffix(domain: &str) -> bool {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    match domain.split_once('.') {
        None => true,
        Some((second, top)) => top.len() == 2 && SECOND_LEVELS.contains(&second),
    }
}

/// Second-level domains under which many countries register names.
const SECOND_LEVELS: [&str; 7] = ["ac", "co", "com", "edu", "gov", "net", "org"];
