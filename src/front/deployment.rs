//! What every request to this Worker is decided by: its settings, its agents, its keys, and what the machine offers.

use std::rc::Rc;

use super::signed::SignedCards;
use crate::config::Settings;
use crate::executor::{Agents, HostedAgent};
use crate::signing::SigningKeys;
use a2a_agents::McpTools;

/// A deployment. An instance of the front Worker has one, made from its bindings.
pub(crate) struct Deployment {
    pub(crate) settings: Rc<Settings>,
    pub(crate) agents: Rc<Agents>,
    /// The keys that sign cards and notifications, if the operator has given some.
    pub(crate) signing: Option<Rc<SigningKeys>>,
    /// The cards that this instance has signed.
    pub(crate) signed: SignedCards,
    /// Whether the console is served.
    pub(crate) has_console: bool,
    /// Checks where the URL of a webhook leads.
    pub(crate) check_url: CheckUrl,
    /// Returns an id that nothing else has.
    pub(crate) new_id: fn() -> String,
}

/// Checks where the URL of a webhook leads, and returns what it must be.
pub(crate) type CheckUrl = fn(&str, &Settings) -> Result<(), String>;

impl Deployment {
    /// All agents.
    pub(crate) fn hosted(&self) -> impl Iterator<Item = &HostedAgent> {
        self.agents.slugs().filter_map(|slug| self.agents.find(Some(slug)))
    }

    /// The agents that are tools of MCP, or the one of this slug.
    pub(crate) fn mcp_agents<'a>(
        &'a self,
        slug: Option<&'a str>,
    ) -> impl Iterator<Item = &'a HostedAgent> {
        let agents = self.hosted().filter(move |agent| slug.is_none_or(|slug| slug == agent.slug));
        agents.filter(|agent| agent.mcp_tools != McpTools::None)
    }

    /// Whether there is an MCP server: of all agents, or of the one of this slug.
    pub(crate) fn has_mcp(&self, slug: Option<&str>) -> bool {
        slug.is_none_or(|slug| {
            self.agents.find(Some(slug)).is_some_and(|agent| agent.mcp_tools != McpTools::None)
        })
    }
}
