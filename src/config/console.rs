//! What people may do at the console, besides what agents let them.

use super::mcp::names_host;
use super::variables::Variables;

/// What people may do at the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Console {
    /// `CONSOLE_REMOTES`: the hosts of agents elsewhere that people who have signed in may open in the console, as
    /// `agents.example, *.example.org`; `*` for any (the default), `none` for none.
    pub remotes: Vec<String>,
}

impl Console {
    /// Reads what they may do.
    pub(super) fn read(variables: Variables<'_>) -> Self {
        let remotes = variables.text("CONSOLE_REMOTES").unwrap_or_else(|| "*".to_owned());
        let remotes = remotes.split(',').map(|host| host.trim().to_ascii_lowercase());
        Self { remotes: remotes.filter(|host| !host.is_empty() && host != "none").collect() }
    }

    /// Whether agents elsewhere may be opened at all.
    pub fn opens_remotes(&self) -> bool {
        !self.remotes.is_empty()
    }

    /// Whether agents at this host may be, given with its port if it has one.
    pub fn lets_open_host(&self, host: &str) -> bool {
        names_host(&self.remotes, host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_host_may_be_opened_unless_some_are_listed() {
        for (listed, host, lets) in [
            (None, "any.example", true),
            (Some("none"), "any.example", false),
            (Some(" None "), "none", false),
            (Some("agents.example, *.example.org"), "agents.example", true),
            (Some("agents.example, *.example.org"), "a.example.org:8443", true),
            (Some("agents.example, *.example.org"), "other.example", false),
        ] {
            let variable = |_: &str| listed.map(str::to_owned);
            let console = Console::read(Variables(&variable));
            assert_eq!(console.lets_open_host(host), lets, "{listed:?} {host}");
            assert_eq!(console.opens_remotes(), !matches!(listed, Some("none" | " None ")));
        }
    }
}
