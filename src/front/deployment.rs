//! The data by which every request to this Worker is decided: its settings, agents and keys, and functions of the
//! platform.

use std::rc::Rc;

use super::signed::SignedCards;
use crate::config::Settings;
use crate::executor::{Agents, HostedAgent};
use crate::signing::SigningKeys;
use a2a::model::Uuid;
use a2a_agents::McpTools;

/// A deployment. An instance of the front Worker makes one from its bindings.
pub(crate) struct Deployment {
    pub(crate) settings: Rc<Settings>,
    pub(crate) agents: Rc<Agents>,
    /// The keys that sign cards and notifications, if the operator has configured keys.
    pub(crate) signing: Option<Rc<SigningKeys>>,
    /// The cards that this instance has signed.
    pub(crate) signed: SignedCards,
    /// True if the console is served.
    pub(crate) has_console: bool,
    /// Checks the target of a webhook's URL.
    pub(crate) check_url: CheckUrl,
    /// Returns a new unique id.
    pub(crate) new_id: fn() -> Uuid,
}

/// Checks the target of a webhook's URL. The error describes the URLs that are allowed.
pub(crate) type CheckUrl = fn(&str, &Settings) -> Result<(), String>;

impl Deployment {
    /// All agents.
    pub(crate) fn hosted(&self) -> impl Iterator<Item = &HostedAgent> {
        self.agents.all()
    }

    /// The agents that are tools of MCP; with a slug, only the agent with this slug.
    pub(crate) fn mcp_agents<'a>(
        &'a self,
        slug: Option<&'a str>,
    ) -> impl Iterator<Item = &'a HostedAgent> {
        let agents = self.hosted().filter(move |agent| slug.is_none_or(|slug| slug == agent.slug));
        agents.filter(|agent| agent.mcp_tools != McpTools::None)
    }

    /// True if the MCP server of all agents, or of the agent with this slug, exists.
    pub(crate) fn has_mcp(&self, slug: Option<&str>) -> bool {
        slug.is_none_or(|slug| {
            self.agents.find(Some(slug)).is_some_and(|agent| agent.mcp_tools != McpTools::None)
        })
    }
}
