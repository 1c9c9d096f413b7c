//! The agents that this Worker hosts: the files that the build embedded, made ready to answer.

use std::fmt;

use super::{Runner, from_definition};
use a2a::model::AgentCapabilities;
use a2a::model::decode::read_json;
use a2a_agents::{Embedded, EmbeddedAgent};

/// The agents of this build.
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
    /// What runs it.
    pub runner: Runner,
}

impl Agents {
    /// The agents that the build embedded, or those of `text`, which is of the same form. Those for
    /// development only where `is_development`; with the one of slug `default` at `/` if there is one.
    ///
    /// # Errors
    ///
    /// If they cannot be read. The build has tried it with those that it embedded.
    pub fn read(
        text: Option<&str>,
        is_development: bool,
        default: Option<&str>,
    ) -> Result<Self, Unreadable> {
        let embedded: Embedded = read_json(text.unwrap_or(EMBEDDED)).map_err(Unreadable::of)?;
        let mut agents = embedded.agents;
        agents.retain(|agent| is_development || !agent.development);
        let is_chosen = |agent: &EmbeddedAgent| default == Some(agent.slug.as_str());
        if agents.iter().any(is_chosen) {
            for agent in &mut agents {
                agent.default = is_chosen(agent);
            }
        }
        let ready = agents.into_iter().map(|agent| {
            let settings = agent.executor.run;
            let executor = from_definition(agent.executor)
                .map_err(|reason| Unreadable(format!("the agent {}: {reason}", agent.slug)))?;
            Ok(HostedAgent {
                slug: agent.slug,
                is_default: agent.default,
                capabilities: agent.capabilities.into(),
                card: agent.card,
                runner: Runner { executor, settings },
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
    fn of(cause: impl fmt::Display) -> Self {
        Self(cause.to_string())
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the agents cannot be read: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

/// When the agent files were built, as an HTTP date: no card is older or newer.
pub const BUILT_AT: &str = env!("AGENTS_BUILT_AT");

const EMBEDDED: &str = include_str!(concat!(env!("OUT_DIR"), "/agents.json"));

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(slug: &str, more: &str) -> String {
        format!(
            r#"{{"slug":"{slug}","default":false,"development":false,"card":"card of {slug}",
            "capabilities":{{"streaming":true,"push_notifications":false,"extended_agent_card":false}},
            "executor":{{"kind":"script","run":{{}}}}{more}}}"#
        )
    }

    fn read(
        agents: &[String],
        is_development: bool,
        default: Option<&str>,
    ) -> Result<Agents, Unreadable> {
        let text = format!(r#"{{"agents":[{}]}}"#, agents.join(","));
        Agents::read(Some(&text), is_development, default)
    }

    #[test]
    fn what_the_build_embedded_can_be_read() {
        let agents = Agents::read(None, false, None).unwrap();
        let default = agents.find(None).unwrap();
        let card: serde_json::Value = serde_json::from_str(&default.card).unwrap();
        assert_eq!(card["supportedInterfaces"][0]["url"], "{origin}/");
        assert!(a2a::model::UnixMillis::parse_http_date(BUILT_AT).is_some(), "{BUILT_AT}");
    }

    #[test]
    fn agents_are_found_by_their_slug_and_one_of_them_without() {
        let all = [
            agent("a", ""),
            agent("b", r#","default":true"#),
            agent("c", r#","development":true"#),
        ];
        let deployed = read(&all, false, None).unwrap();
        assert_eq!(deployed.find(None).unwrap().slug, "b");
        assert_eq!(deployed.find(Some("a")).unwrap().card, "card of a");
        assert!(deployed.find(Some("c")).is_none());
        assert!(deployed.find(Some("nobody")).is_none());
        let development = read(&all, true, Some("c")).unwrap();
        assert_eq!(development.find(None).unwrap().slug, "c");
        assert!(!development.find(Some("b")).unwrap().is_default);
    }

    #[test]
    fn agents_that_cannot_be_read_are_an_error_and_not_none() {
        let tools = |names: &str| {
            let executor =
                format!(r#","executor":{{"kind":"tools","tools":[{names}],"run":{{}}}}"#);
            agent("b", &executor)
        };
        for (agents, reason) in [
            (
                agent("b", r#","executor":{"kind":"oracle","run":{}}"#),
                "agents[1].executor.kind: is \"oracle\"",
            ),
            (tools(r#""no_such_tool""#), "the agent b: there is no tool \"no_such_tool\""),
            ("5".to_owned(), "agents[1]: must be an object, got 5"),
            ("{}".to_owned(), "cannot be read"),
            ("nonsense".to_owned(), "expected ident"),
        ] {
            let error = read(&[agent("a", ""), agents], true, None).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
