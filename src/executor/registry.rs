//! The agents that this Worker hosts: the files that the build embedded, made ready to answer.

use super::{Runner, from_definition};
use crate::agent::{Capabilities, Embedded, EmbeddedAgent};
use crate::model::decode::read_json;

/// The agents of this build.
pub struct Agents(Vec<HostedAgent>);

/// One agent, ready to answer.
pub struct HostedAgent {
    /// Its path and tenant.
    pub slug: String,
    /// Whether it answers at `/` too.
    pub is_default: bool,
    /// The optional parts of the protocol that it supports.
    pub capabilities: Capabilities,
    /// Its card as JSON, in which [`crate::agent::ORIGIN`] stands for the origin.
    pub card: String,
    /// What runs it.
    pub runner: Runner,
}

impl Agents {
    /// The agents that the build embedded, those for development only where `is_development`, with the
    /// one of slug `default` at `/` if there is one. The build has checked them, so that reading them
    /// cannot fail.
    pub fn embedded(is_development: bool, default: Option<&str>) -> Self {
        let embedded: Embedded = read_json(EMBEDDED).unwrap_or_default();
        let mut agents = embedded.agents;
        agents.retain(|agent| is_development || !agent.development);
        let is_chosen = |agent: &EmbeddedAgent| default == Some(agent.slug.as_str());
        if agents.iter().any(is_chosen) {
            for agent in &mut agents {
                agent.default = is_chosen(agent);
            }
        }
        let ready = agents.into_iter().map(|agent| HostedAgent {
            slug: agent.slug,
            is_default: agent.default,
            capabilities: agent.capabilities,
            card: agent.card,
            runner: Runner {
                settings: agent.executor.run,
                executor: from_definition(agent.executor),
            },
        });
        Self(ready.collect())
    }

    /// The agent of this slug; without one, the default agent.
    pub fn find(&self, slug: Option<&str>) -> Option<&HostedAgent> {
        self.0.iter().find(|agent| match slug {
            Some(slug) => agent.slug == slug,
            None => agent.is_default,
        })
    }

    /// The paths at which agents answer, as `/, /demo`.
    pub fn paths(&self) -> String {
        let path = |agent: &HostedAgent| format!("/{}", agent.slug);
        let paths: Vec<String> = self.0.iter().map(path).collect();
        format!("/, {}", paths.join(", "))
    }

    /// Every slug.
    pub fn slugs(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|agent| agent.slug.as_str())
    }
}

/// When the agent files were built, as an HTTP date: no card is older or newer.
pub const BUILT_AT: &str = env!("AGENTS_BUILT_AT");

const EMBEDDED: &str = include_str!(concat!(env!("OUT_DIR"), "/agents.json"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_agents_can_be_read() {
        let agents = Agents::embedded(false, None);
        let default = agents.find(None).unwrap();
        assert!(default.is_default);
        assert!(agents.find(Some("demo")).is_some());
        assert!(agents.find(Some("nobody")).is_none());
        assert!(agents.find(Some("faults")).is_none());
        assert!(Agents::embedded(true, None).find(Some("faults")).is_some());
        let chosen = Agents::embedded(true, Some("faults"));
        assert_eq!(chosen.find(None).unwrap().slug, "faults");
        let card: serde_json::Value = serde_json::from_str(&default.card).unwrap();
        assert_eq!(card["supportedInterfaces"][0]["url"], "{origin}/");
        assert!(crate::model::UnixMillis::parse_http_date(BUILT_AT).is_some(), "{BUILT_AT}");
    }
}
