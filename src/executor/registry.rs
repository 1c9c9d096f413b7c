//! The agents that this Worker hosts: the files that the build embedded, made ready to answer.

use std::rc::Rc;

use serde::Deserialize;

use super::{AgentExecutor, from_definition};
use crate::agent::AgentDefinition;

/// The agents of this build.
pub struct Agents(Vec<HostedAgent>);

/// One agent, ready to answer.
pub struct HostedAgent {
    /// What its file says.
    pub definition: AgentDefinition,
    /// Its card as JSON, in which [`crate::agent::ORIGIN`] stands for the origin.
    pub card: String,
    /// Its logic.
    pub executor: Rc<dyn AgentExecutor>,
}

impl Agents {
    /// The agents that the build embedded, those for development only where `is_development`, with the
    /// one of slug `default` at `/` if there is one. The build has checked them, so that reading them
    /// cannot fail.
    pub fn embedded(is_development: bool, default: Option<&str>) -> Self {
        let mut agents: Vec<Embedded> = serde_json::from_str(EMBEDDED).unwrap_or_default();
        let is_default = |agent: &Embedded| default == Some(agent.definition.slug.as_str());
        if agents.iter().any(is_default) {
            for agent in &mut agents {
                agent.definition.default = is_default(agent);
            }
        }
        let served =
            agents.into_iter().filter(|agent| is_development || !agent.definition.development);
        let ready = served.map(|Embedded { definition, card }| HostedAgent {
            executor: from_definition(&definition.executor),
            definition,
            card,
        });
        Self(ready.collect())
    }

    /// The agent of this slug; without one, the default agent.
    pub fn find(&self, slug: Option<&str>) -> Option<&HostedAgent> {
        self.0.iter().find(|agent| match slug {
            Some(slug) => agent.definition.slug == slug,
            None => agent.definition.default,
        })
    }

    /// The paths at which agents answer, as `/, /demo`.
    pub fn paths(&self) -> String {
        let path = |agent: &HostedAgent| format!("/{}", agent.definition.slug);
        let paths: Vec<String> = self.0.iter().map(path).collect();
        format!("/, {}", paths.join(", "))
    }

    /// Every slug, separated by commas.
    pub fn slugs(&self) -> String {
        let slugs: Vec<&str> = self.0.iter().map(|agent| agent.definition.slug.as_str()).collect();
        slugs.join(", ")
    }
}

#[derive(Deserialize)]
struct Embedded {
    definition: AgentDefinition,
    card: String,
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
        assert!(default.definition.default);
        assert!(agents.find(Some("demo")).is_some());
        assert!(agents.find(Some("nobody")).is_none());
        assert!(agents.find(Some("faults")).is_none());
        assert!(Agents::embedded(true, None).find(Some("faults")).is_some());
        let chosen = Agents::embedded(true, Some("faults"));
        assert_eq!(chosen.find(None).unwrap().definition.slug, "faults");
        let card: serde_json::Value = serde_json::from_str(&default.card).unwrap();
        assert_eq!(card["supportedInterfaces"][0]["url"], "{origin}/");
        assert!(crate::model::UnixMillis::parse_http_date(BUILT_AT).is_some(), "{BUILT_AT}");
    }
}
