//! The checked form of a project's files: the checker writes it, and the Worker reads it, with the same types.
//!
//! The Worker gets the form in two parts: an [`Index`], which it reads when it starts, and one text for each agent, which it reads
//! when the agent is first called. [`Checked`] is the whole of it.

use serde::Serialize;

use crate::access::Access;
use crate::{
    Accepts, Capabilities, Dialects, HttpToolDefinition, LearnedSkills, McpServer, McpTable,
    Misfit, Need, Problem, QuotaTable, RegisteredSkill, Remote, RestrictedSkill, RetentionTable,
    RunSettings, Slug, Table,
};
use a2a::model::decode::{Decode, read_json};
use a2a::model::{UnixMillis, to_json};
use a2a::sorted::{SortedMap, SortedSet};

/// The checked form as a whole: every agent, and the remote agents and MCP servers that agents may call by name.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct Checked {
    /// The instant of the checker, in milliseconds since the epoch. It is the date of all cards.
    pub built_ms: i64,
    /// The agents, sorted by the names of their files.
    pub agents: Vec<CheckedAgent>,
    /// The remote agents that have names, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<Remote>,
    /// The MCP servers that have names, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
}

/// The facts about a project's agents that every request may need, and what all agents share.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct Index {
    /// The instant of the check, in milliseconds since the epoch. It is the date of all cards.
    pub built_ms: i64,
    /// The agents, sorted by the names of their files.
    pub agents: Vec<IndexedAgent>,
    /// The headers of requests that the access rules of any agent read, in lower case, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// The remote agents that have names, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<Remote>,
    /// The MCP servers that have names, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
}

/// An agent in an [`Index`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
pub struct IndexedAgent {
    /// The slug: the agent's path and tenant.
    pub slug: Slug,
    /// True if the agent also answers at `/`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub default: bool,
    /// True if the agent is served only where `DEVELOPMENT` is set.
    #[serde(default, skip_serializing_if = "is_false")]
    pub development: bool,
    /// True if callers need no credentials.
    #[serde(default, skip_serializing_if = "is_false")]
    pub open: bool,
    /// How long finished tasks are kept.
    #[serde(default, skip_serializing_if = "RetentionTable::is_default")]
    pub retention: RetentionTable,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The source of the agents that a Worker serves.
pub trait AgentSource {
    /// The index.
    ///
    /// # Errors
    ///
    /// If the index cannot be read.
    fn index(&self) -> serde_json::Result<Index>;

    /// An agent of the index; `None` if the source has no agent with this slug.
    ///
    /// # Errors
    ///
    /// If the agent cannot be read.
    fn agent(&self, slug: &str) -> serde_json::Result<Option<CheckedAgent>>;
}

impl AgentSource for Checked {
    fn index(&self) -> serde_json::Result<Index> {
        let Self { built_ms, agents, remotes, mcp } = self;
        let headers: SortedSet<String> =
            agents.iter().flat_map(|agent| agent.access.headers()).collect();
        let indexed = |agent: &CheckedAgent| IndexedAgent {
            slug: agent.slug.clone(),
            default: agent.default,
            development: agent.development,
            open: agent.access.is_anonymous(),
            retention: agent.retention,
        };
        Ok(Index {
            built_ms: *built_ms,
            agents: agents.iter().map(indexed).collect(),
            headers: headers.into_iter().collect(),
            remotes: remotes.clone(),
            mcp: mcp.clone(),
        })
    }

    fn agent(&self, slug: &str) -> serde_json::Result<Option<CheckedAgent>> {
        Ok(self.agents.iter().find(|agent| agent.slug == slug).cloned())
    }
}

/// The checked form as the texts of a module, `agents.js`, and of the body of `PUT /_dev/agents`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
pub struct AgentTexts {
    /// The version of a2a-edge whose checker wrote the form. A Worker of another version does not read it.
    pub version: String,
    /// The [`Index`], as JSON.
    pub index: String,
    /// Each [`CheckedAgent`], as JSON, by its slug.
    pub agents: SortedMap<String, String>,
}

impl AgentTexts {
    /// The texts of the checked form.
    ///
    /// # Errors
    ///
    /// No agent file causes an error: all keys are text.
    pub fn of(checked: &Checked) -> serde_json::Result<Self> {
        let text = |agent: &CheckedAgent| Ok((agent.slug.to_string(), to_json(agent)?));
        Ok(Self {
            version: VERSION.to_owned(),
            index: to_json(&checked.index()?)?,
            agents: checked.agents.iter().map(text).collect::<serde_json::Result<_>>()?,
        })
    }
}

impl AgentSource for AgentTexts {
    fn index(&self) -> serde_json::Result<Index> {
        read_json(&self.index)
    }

    fn agent(&self, slug: &str) -> serde_json::Result<Option<CheckedAgent>> {
        self.agents.get(slug).map(|text| read_json(text)).transpose()
    }
}

/// The version of a2a-edge: of the checker, of the checked form that it writes, and of the Worker that reads it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The checked form of an agent: the values that are needed to answer. The others are in the card.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct CheckedAgent {
    /// The slug: the agent's path and tenant.
    pub slug: Slug,
    /// True if the agent also answers at `/`.
    pub default: bool,
    /// True if the agent is served only where `DEVELOPMENT` is set.
    pub development: bool,
    /// The optional parts of the protocol that the agent supports.
    pub capabilities: Capabilities,
    /// The callers that the agent accepts.
    #[serde(default, skip_serializing_if = "Access::is_default")]
    pub access: Access,
    /// The older versions of the protocol that the agent supports.
    #[serde(default, skip_serializing_if = "Dialects::is_default")]
    pub dialects: Dialects,
    /// The media types that the parts of messages may have.
    #[serde(default, skip_serializing_if = "Accepts::is_default")]
    pub accepts: Accepts,
    /// The tools of the agent for clients of MCP.
    #[serde(default, skip_serializing_if = "McpTable::is_default")]
    pub mcp: McpTable,
    /// How long finished tasks are kept.
    #[serde(default, skip_serializing_if = "RetentionTable::is_default")]
    pub retention: RetentionTable,
    /// What each caller may have at a time.
    #[serde(default, skip_serializing_if = "QuotaTable::is_default")]
    pub quota: QuotaTable,
    /// The executor, which answers messages.
    pub executor: CheckedExecutor,
    /// The agent's HTTP tools: those that it shares with other agents, and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<HttpToolDefinition>,
    /// The secrets and variables that the agent needs. Scripts use them to report the missing ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// The skills that need permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restricted: Vec<RestrictedSkill>,
    /// The skills of tools that the Worker registers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registered: Vec<RegisteredSkill>,
    /// The skills that are learned while the Worker runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedSkills>,
    /// The card as JSON. In its URLs, [`ORIGIN`](a2a::binding::discovery::ORIGIN) is the placeholder of the origin.
    pub card: String,
}

/// The checked form of an executor.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
pub struct CheckedExecutor {
    /// The kind. The Worker selects the constructor by it.
    pub kind: String,
    /// The settings, which the constructor reads.
    pub table: Table,
    /// The limits of runs, and the recovery of interrupted runs.
    pub run: RunSettings,
    /// The lines of the settings in the agent file, for a kind that the Worker registers: their problems are found when the
    /// Worker starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<ExecutorPlace>,
}

/// The lines of an agent file that configure its executor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
pub struct ExecutorPlace {
    /// The path of the file, as `agents/demo.toml`.
    pub file: String,
    /// The line of `kind`, and the lines of the keys in the table, as `seats.rows`.
    pub lines: SortedMap<String, usize>,
}

impl CheckedExecutor {
    /// Adds the file and the line, if known, to the error for a kind that the Worker does not have.
    pub fn misfit_of_kind(&self, Misfit(fix): Misfit) -> Misfit {
        self.misfit_at("kind", &fix).unwrap_or(Misfit(fix))
    }

    /// Adds the file and the line, if known, to the error for a table that does not fit.
    pub fn misfit_of_table(&self, Misfit(fix): Misfit) -> Misfit {
        // An error of the constructor names the key between backticks, if one key is concerned, but not the table that contains
        // the key.
        let mut named = fix.split('`').skip(1).step_by(2).map(|name| format!(".{name}"));
        let lines = || self.place.iter().flat_map(|place| place.lines.keys());
        let key = named.find_map(|name| lines().find(|key| key.ends_with(&name)));
        let key = key.map_or(self.kind.as_str(), String::as_str);
        let placed = self.misfit_at(key, &fix);
        placed.unwrap_or_else(|| Misfit(format!("[executor.{}] {fix}", self.kind)))
    }

    /// Adds the file and the line, if known, to a problem of a key in the table.
    pub fn misfit_of_key(&self, key: &str, fix: &str) -> Misfit {
        let key = format!("{}.{key}", self.kind);
        let placed = self.misfit_at(&key, fix);
        placed.unwrap_or_else(|| Misfit(format!("`executor.{key}` {fix}")))
    }

    fn misfit_at(&self, key: &str, fix: &str) -> Option<Misfit> {
        let ExecutorPlace { file, lines } = self.place.as_ref()?;
        // If the file has no table of the kind, only the line of `kind` is known.
        let line = lines.get(key).or_else(|| lines.get("kind"))?;
        let problem = Problem::at(format!("executor.{key}"), fix);
        Some(problem.in_file(file).at_line(*line).into())
    }
}

impl Checked {
    /// The agents, without remotes and MCP servers.
    pub fn new(built_at: UnixMillis, agents: Vec<CheckedAgent>) -> Self {
        Self { built_ms: built_at.0, agents, remotes: Vec::new(), mcp: Vec::new() }
    }

    /// The same data with these remote agents.
    #[must_use]
    pub fn with_remotes(self, remotes: Vec<Remote>) -> Self {
        Self { remotes, ..self }
    }

    /// The same data with these MCP servers.
    #[must_use]
    pub fn with_mcp(self, mcp: Vec<McpServer>) -> Self {
        Self { mcp, ..self }
    }

    /// The form as one JSON object.
    ///
    /// # Errors
    ///
    /// No agent file causes an error: all keys are text.
    pub fn to_json(&self) -> serde_json::Result<String> {
        to_json(self)
    }

    /// Reads the JSON that [`to_json`](Self::to_json) made.
    ///
    /// # Errors
    ///
    /// The first invalid value of the JSON.
    pub fn read(json: &str) -> serde_json::Result<Self> {
        read_json(json)
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
            let refused = Checked::read(&text).unwrap_err().to_string();
            assert!(
                refused.contains("agents[0].slug: must") && refused.contains(slug),
                "{refused}"
            );
        }
    }
}
