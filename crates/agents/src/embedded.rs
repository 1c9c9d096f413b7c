//! What the build embeds of an agent, and the Worker reads: one shape for both.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::{
    Accepts, Capabilities, Dialects, HttpToolDefinition, LearnedSkills, McpServer, McpTable,
    Misfit, Need, Problem, Remote, RestrictedSkill, RunSettings, Slug, Table,
};
use a2a::model::UnixMillis;

/// What is embedded: every agent, and the remote agents and MCP servers that they may call by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedded {
    /// When it was built, in milliseconds since the epoch: no card is older or newer.
    pub built_ms: i64,
    /// The agents, by the names of their files.
    pub agents: Vec<EmbeddedAgent>,
    /// The remote agents that have names, by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<Remote>,
    /// The MCP servers that have names, by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
}

/// What is embedded of an agent: what is needed to answer. All else is in the card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddedAgent {
    /// Its path and tenant.
    pub slug: Slug,
    /// Whether it answers at `/` too.
    pub default: bool,
    /// Whether it is served only where `DEVELOPMENT` is set.
    pub development: bool,
    /// The optional parts of the protocol that it supports.
    pub capabilities: Capabilities,
    /// Who may call.
    #[serde(default, skip_serializing_if = "Access::is_default")]
    pub access: Access,
    /// The older versions of the protocol that it speaks.
    #[serde(default, skip_serializing_if = "Dialects::is_default")]
    pub dialects: Dialects,
    /// Which messages it takes.
    #[serde(default, skip_serializing_if = "Accepts::is_default")]
    pub accepts: Accepts,
    /// What clients of MCP see of it.
    #[serde(default, skip_serializing_if = "McpTable::is_default")]
    pub mcp: McpTable,
    /// What answers.
    pub executor: EmbeddedExecutor,
    /// Its HTTP tools: those that it shares with others, and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<HttpToolDefinition>,
    /// The secrets and variables that it needs, for the scripts that name those that are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Its skills that need permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restricted: Vec<RestrictedSkill>,
    /// Its skills that are learned while the Worker runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedSkills>,
    /// Its card as JSON, in which [`ORIGIN`](a2a::binding::discovery::ORIGIN) stands for the origin.
    pub card: String,
}

/// What is embedded of an executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddedExecutor {
    /// The kind, by which the Worker finds the constructor.
    pub kind: String,
    /// What the constructor gets.
    pub table: Table,
    /// How runs are bounded, and what happens to interrupted ones.
    pub run: RunSettings,
    /// Where the agent file says so, for a kind that the Worker registers: what is wrong with it is found when the Worker starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<ExecutorPlace>,
}

/// Where an agent file says what its executor is made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorPlace {
    /// The file, as `agents/demo.toml`.
    pub file: String,
    /// The line of `kind`, and those of the keys of the table, as `seats.rows`.
    pub lines: BTreeMap<String, usize>,
}

impl EmbeddedExecutor {
    /// Why it cannot be made, if the Worker has no such kind: with the place, if that is known.
    pub fn misfit_of_kind(&self, Misfit(fix): Misfit) -> Misfit {
        self.misfit_at("kind", &fix).unwrap_or(Misfit(fix))
    }

    /// Why it cannot be made from its table: with the place, if that is known.
    pub fn misfit_of_table(&self, Misfit(fix): Misfit) -> Misfit {
        // What is wrong names a key, if it is about one, and not where that stands.
        let mut named = fix.split('`').skip(1).step_by(2).map(|name| format!(".{name}"));
        let lines = || self.place.iter().flat_map(|place| place.lines.keys());
        let key = named.find_map(|name| lines().find(|key| key.ends_with(&name)));
        let key = key.map_or(self.kind.as_str(), String::as_str);
        let placed = self.misfit_at(key, &fix);
        placed.unwrap_or_else(|| Misfit(format!("[executor.{}] {fix}", self.kind)))
    }

    fn misfit_at(&self, key: &str, fix: &str) -> Option<Misfit> {
        let ExecutorPlace { file, lines } = self.place.as_ref()?;
        // An agent without a table of the kind has the kind alone.
        let line = lines.get(key).or_else(|| lines.get("kind"))?;
        let problem = Problem::at(format!("executor.{key}"), fix);
        Some(problem.in_file(file).at_line(*line).into())
    }
}

impl Embedded {
    /// Agents with the date of their build.
    pub fn new(built_at: UnixMillis, agents: Vec<EmbeddedAgent>) -> Self {
        Self { built_ms: built_at.0, agents, remotes: Vec::new(), mcp: Vec::new() }
    }

    /// The same with these remote agents.
    #[must_use]
    pub fn with_remotes(self, remotes: Vec<Remote>) -> Self {
        Self { remotes, ..self }
    }

    /// The same with these MCP servers.
    #[must_use]
    pub fn with_mcp(self, mcp: Vec<McpServer>) -> Self {
        Self { mcp, ..self }
    }

    /// The JSON that is embedded.
    ///
    /// # Errors
    ///
    /// None that an agent file could cause: all of its keys are text.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The agents of a JSON that [`to_json`](Self::to_json) made.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it.
    pub fn read(json: &str) -> serde_json::Result<Self> {
        a2a::model::read_own(json)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reserved_slug_is_refused() {
        let agent = |slug: &str| {
            let executor = json!({"kind": "tools", "table": {}, "run": RunSettings::default()});
            json!({"slug": slug, "default": true, "development": false, "card": "{}",
                "capabilities": Capabilities::default(), "executor": executor})
        };
        for slug in ["mcp", "_dev", "Demo"] {
            let text = json!({"built_ms": 0, "agents": [agent(slug)]}).to_string();
            let refused = Embedded::read(&text).unwrap_err().to_string();
            assert!(refused.contains("`slug` must") && refused.contains(slug), "{refused}");
        }
    }
}
