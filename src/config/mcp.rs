//! The settings for clients of MCP; agent files have further ones.

use super::ConfigError;
use super::variables::{MINUTE_MS, Variables};

/// The settings for clients of MCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mcp {
    /// `MCP_WAIT_MS`: how long a call waits for its agent before it answers with the working task (45 s).
    pub wait_ms: u64,
    /// `MCP_REMOTES`: the other agents that callers may name, for example `weather, agents.example, *.example.org`: names from
    /// `remotes.toml`, which are called with their credentials, and hosts; `*` for any host. Without it, callers may name no
    /// agent, and with `DEVELOPMENT` any agent.
    pub remotes: Vec<String>,
}

impl Mcp {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// Returned for the first variable whose value cannot be used.
    pub(super) fn read(variables: Variables<'_>) -> Result<Self, ConfigError> {
        let remotes = variables.text("MCP_REMOTES").unwrap_or_default();
        let remotes = remotes.split(',').map(|name| name.trim().to_ascii_lowercase());
        Ok(Self {
            wait_ms: variables.number("MCP_WAIT_MS", 45_000, 0..=10 * MINUTE_MS)?,
            remotes: remotes.filter(|name| !name.is_empty()).collect(),
        })
    }

    /// True if callers may name the remote agent of this name. `*` applies only to hosts.
    pub fn lets_call_remote(&self, name: &str) -> bool {
        self.remotes.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// True if callers may name agents at this host, which includes its port if it has one.
    pub fn lets_call_host(&self, host: &str) -> bool {
        names_host(&self.remotes, host)
    }
}

/// True if a list of hosts, in lower case, contains this host, which may include a port. Forms in the list: `agents.example`,
/// `*.example.org`, or `*` for any host.
pub(super) fn names_host(hosts: &[String], host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
    hosts.iter().any(|known| match known.strip_prefix('*') {
        Some("") => true,
        Some(domain) => {
            domain.starts_with('.') && name.len() > domain.len() && name.ends_with(domain)
        }
        None => *known == host || known == name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mcp(remotes: &str) -> Mcp {
        let variable = |name: &str| (name == "MCP_REMOTES").then(|| remotes.to_owned());
        Mcp::read(Variables(&variable)).unwrap()
    }

    #[test]
    fn callers_may_name_what_is_listed() {
        let listed = mcp("weather, Agents.example, *.example.org,127.0.0.1:8080");
        for (host, lets) in [
            ("agents.example", true),
            ("agents.example:8443", true),
            ("AGENTS.example", true),
            ("a.example.org", true),
            ("example.org", false),
            ("evilexample.org", false),
            (".example.org", false),
            ("127.0.0.1:8080", true),
            ("127.0.0.1", false),
            ("127.0.0.1:80", false),
            ("other.example", false),
        ] {
            assert_eq!(listed.lets_call_host(host), lets, "{host}");
        }
        assert!(listed.lets_call_remote("weather") && !listed.lets_call_remote("billing"));
        assert!(mcp("*").lets_call_host("any.example") && !mcp("*").lets_call_remote("weather"));
        assert!(!mcp(" , ").lets_call_host("any.example") && !mcp("").lets_call_remote(""));
    }
}
