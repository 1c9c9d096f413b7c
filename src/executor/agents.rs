//! The agents that this Worker hosts, made ready to answer.

use std::fmt;

use super::{Registry, Runner};
use crate::port::Outside;
use a2a::model::{AgentCapabilities, UnixMillis};
use a2a_agents::{Embedded, EmbeddedAgent, check_slug};

/// The agents of a Worker.
pub struct Agents(Vec<HostedAgent>);

/// One agent, ready to answer.
pub struct HostedAgent {
    /// Its path and tenant.
    pub slug: String,
    /// Whether it answers at `/` too.
    pub is_default: bool,
    /// The optional parts of the protocol that it supports.
    pub capabilities: AgentCapabilities,
    /// Its card as JSON, in which [`a2a::binding::discovery::ORIGIN`] stands for the origin.
    pub card: String,
    /// When the card was made, as an HTTP date.
    pub card_date: String,
    /// What runs it.
    pub runner: Runner,
}

impl Agents {
    /// The agents of a text that a build script made, with executors from `registry`. Those for development only
    /// where `is_development`; with the one of slug `default` at `/` if there is one.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or an executor cannot be made.
    pub fn read(
        text: &str,
        registry: &Registry,
        outside: &Outside,
        is_development: bool,
        default: Option<&str>,
    ) -> Result<Self, Unreadable> {
        let Embedded { built_ms, mut agents } = Embedded::read(text).map_err(Unreadable::of)?;
        agents.retain(|agent| is_development || !agent.development);
        let is_chosen = |agent: &EmbeddedAgent| default == Some(agent.slug.as_str());
        if agents.iter().any(is_chosen) {
            for agent in &mut agents {
                agent.default = is_chosen(agent);
            }
        }
        for agent in &agents {
            check_slug(&agent.slug).map_err(|rule| Unreadable(format!("a slug {rule}")))?;
        }
        let card_date = UnixMillis(built_ms).http_date();
        let ready = agents.into_iter().map(|agent| {
            let made = registry.make(&agent.executor.kind, &agent.executor.table, outside);
            let executor =
                made.map_err(|misfit| Unreadable(format!("the agent {}: {misfit}", agent.slug)))?;
            Ok(HostedAgent {
                slug: agent.slug,
                is_default: agent.default,
                capabilities: agent.capabilities.into(),
                card: agent.card,
                card_date: card_date.clone(),
                runner: Runner { executor, settings: agent.executor.run },
            })
        });
        Ok(Self(ready.collect::<Result<_, _>>()?))
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

/// Why the agents cannot be read, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(String);

impl Unreadable {
    /// For a cause of any kind.
    pub(crate) fn of(cause: impl fmt::Display) -> Self {
        Self(cause.to_string())
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the agents cannot be read: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::port::memory::MemoryPlatform;

    fn agent(slug: &str, key: &str, value: Value) -> Value {
        let capabilities =
            json!({"streaming": true, "push_notifications": false, "extended_agent_card": false});
        let executor = json!({"kind": "script", "table": {"rules": []}, "run": {}});
        let mut agent = json!({"slug": slug, "default": false, "development": false,
            "capabilities": capabilities, "executor": executor, "card": format!("card of {slug}")});
        agent[key] = value;
        agent
    }

    fn read(
        agents: &[Value],
        is_development: bool,
        default: Option<&str>,
    ) -> Result<Agents, Unreadable> {
        let text = json!({"built_ms": 1_767_603_601_000_i64, "agents": agents}).to_string();
        let outside = MemoryPlatform::default().outside();
        Agents::read(&text, &Registry::default(), &outside, is_development, default)
    }

    #[test]
    fn agents_are_found_by_their_slug_and_one_of_them_without() {
        let all = [
            agent("a", "default", false.into()),
            agent("b", "default", true.into()),
            agent("c", "development", true.into()),
        ];
        let deployed = read(&all, false, None).unwrap();
        assert_eq!(deployed.find(None).unwrap().slug, "b");
        let a = deployed.find(Some("a")).unwrap();
        assert_eq!(
            (a.card.as_str(), a.card_date.as_str()),
            ("card of a", "Mon, 05 Jan 2026 09:00:01 GMT")
        );
        assert!(deployed.find(Some("c")).is_none());
        assert!(deployed.find(Some("nobody")).is_none());
        let development = read(&all, true, Some("c")).unwrap();
        assert_eq!(development.find(None).unwrap().slug, "c");
        assert!(!development.find(Some("b")).unwrap().is_default);
    }

    #[test]
    fn agents_that_cannot_be_read_are_an_error_and_not_none() {
        let executor = |kind: &str, table: Value| {
            agent("b", "executor", json!({"kind": kind, "table": table, "run": {}}))
        };
        for (agents, reason) in [
            (
                executor("oracle", json!({})),
                "the agent b: there is no kind of executor \"oracle\"; there are: tools, script, rust",
            ),
            (
                executor("tools", json!({"names": ["none_such"]})),
                "the agent b: there is no tool \"none_such\"; there are: none",
            ),
            (
                executor("rust", json!({"name": "seats"})),
                "the agent b: there is no executor \"seats\"; there are: none",
            ),
            (executor("tools", json!({"tools": []})), "the agent b: unknown field `tools`"),
            (
                executor("script", json!({"rules": [{"then": [{"do": "dance"}]}]})),
                "the agent b: there is no step \"dance\"; there are: working",
            ),
            (json!(5), "invalid type: integer `5`"),
            (json!({}), "missing field `slug`"),
        ] {
            let all = [agent("a", "default", true.into()), agents];
            let error = read(&all, true, None).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
