//! The pages that may send requests of MCP and read the answers, as configured by the agents.

use worker::{Response, Result};

use super::super::deployment::Front;
use crate::auth::Policy;
use crate::executor::HostedAgent;
use crate::front::head::Head;
use a2a::binding::http::{COMMON, PREFLIGHT, split_url};

/// The rules for the page that sends a request.
pub(in crate::edge::front) struct Pages {
    /// True if no agent may be called from the page.
    pub(super) is_refused: bool,
    /// The only origin whose pages may read the answer, with cookies; empty if no page may. `None` if all pages may, without
    /// cookies.
    shown_to: Option<String>,
}

impl Front {
    /// The rules for the page that sends a request, which its header `Origin` names.
    pub(super) fn pages(&self, head: &Head<'_>, slug: Option<&str>, origin: Option<&str>) -> Pages {
        let (own, _, _) = split_url(head.url());
        let any =
            |is_so: &dyn Fn(&HostedAgent) -> bool| self.deployment.mcp_agents(slug).any(is_so);
        let is_refused = origin.is_some_and(|origin| {
            any(&|_| true) && !any(&|agent| self.admits_page(agent, origin, own))
        });
        let is_listed = any(&|agent| {
            origin.is_some_and(|origin| origins(agent).iter().any(|known| known == origin))
        });
        let admits_all = any(&|agent| origins(agent).is_empty());
        let shown_to = match origin {
            Some(origin) if is_listed => Some(origin.to_owned()),
            _ if admits_all && !is_refused => None,
            _ => Some(String::new()),
        };
        Pages { is_refused, shown_to }
    }

    /// True if pages of this origin may call an agent. An agent with a list of origins admits those; without a list it admits
    /// all, but in development only pages of this machine: a page from elsewhere may have pointed its own host name at this
    /// machine.
    pub(super) fn admits_page(&self, agent: &HostedAgent, origin: &str, own: &str) -> bool {
        let allowed = origins(agent);
        if allowed.iter().any(|known| known == origin) {
            return true;
        }
        if self.deployment.settings.development {
            is_loopback(origin)
        } else {
            allowed.is_empty() || origin == self.deployment.settings.place_of(own).origin
        }
    }
}

impl Pages {
    /// Adds the headers for browsers to an answer.
    ///
    /// # Errors
    ///
    /// If the platform refuses a header.
    pub(in crate::edge::front) fn show(&self, mut answer: Response) -> Result<Response> {
        let Some(origin) = &self.shown_to else { return Ok(answer) };
        let headers = answer.headers_mut();
        let vary = headers.get("vary")?.map(|vary| format!("{vary}, Origin"));
        headers.set("vary", vary.as_deref().unwrap_or("Origin"))?;
        headers.set("cross-origin-resource-policy", "same-origin")?;
        if origin.is_empty() {
            for (name, _) in COMMON.into_iter().chain(PREFLIGHT) {
                if name.starts_with("access-control-") {
                    headers.delete(name)?;
                }
            }
        } else {
            headers.set("access-control-allow-origin", origin)?;
            headers.set("access-control-allow-credentials", "true")?;
        }
        Ok(answer)
    }
}

fn origins(agent: &HostedAgent) -> &[String] {
    let access = agent.policy.as_ref().ok().map(Policy::access);
    access.map(|access| access.allowed_origins.as_slice()).unwrap_or_default()
}

/// True if an origin belongs to this machine.
pub(in crate::edge::front) fn is_loopback(origin: &str) -> bool {
    let Some((_, host)) = origin.split_once("://") else { return false };
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').unwrap_or((rest, "")),
        None => host.split_once(':').map_or((host, ""), |(name, _)| (name, "")),
    };
    let is_name = matches!(name, "localhost" | "127.0.0.1" | "::1") || name.ends_with(".localhost");
    is_name && (port.is_empty() || port.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_machine_are_known_by_their_origin() {
        for origin in [
            "http://localhost",
            "http://localhost:6274",
            "https://127.0.0.1:8787",
            "http://[::1]:8787",
            "http://[::1]",
            "http://tools.localhost:3000",
        ] {
            assert!(is_loopback(origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example:8787",
            "http://[::1].evil.example",
            "http://evil-localhost",
            "localhost",
        ] {
            assert!(!is_loopback(origin), "{origin}");
        }
    }
}
