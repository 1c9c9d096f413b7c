//! Where notifications may go.

use super::ConfigError;
use super::variables::Variables;

/// Where notifications may go. Without any of these: to public hosts, by https, and with `DEVELOPMENT`
/// also to loopback hosts, by http, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Webhooks {
    /// `WEBHOOK_ALLOW_PRIVATE`: also to private hosts and by http, for conformance runs and tests. Never set
    /// it where strangers register webhooks.
    pub allow_private: bool,
    /// `WEBHOOK_HOSTS`: if not empty, only to these hosts, as `hooks.example.com, *.example.org`. A star
    /// stands for everything below a domain, but not the domain, and not for a top domain or the like. It
    /// opens nothing that is closed otherwise.
    pub hosts: Vec<String>,
}

impl Webhooks {
    /// Reads where notifications may go.
    ///
    /// # Errors
    ///
    /// The first variable whose value cannot be used.
    pub(super) fn read(variables: Variables<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            allow_private: variables.switch("WEBHOOK_ALLOW_PRIVATE")?,
            hosts: parse_hosts(&variables.text("WEBHOOK_HOSTS").unwrap_or_default())?,
        })
    }
}

/// A list of hosts, as URLs name them in their normal form.
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

/// Whether strangers have names right below this domain: a top domain, or what many countries have in its
/// place, as `co.uk`.
fn is_public_suffix(domain: &str) -> bool {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    match domain.split_once('.') {
        None => true,
        Some((second, top)) => top.len() == 2 && SECOND_LEVELS.contains(&second),
    }
}

/// What countries have as second levels of their domains for everybody.
const SECOND_LEVELS: [&str; 7] = ["ac", "co", "com", "edu", "gov", "net", "org"];
