//! The kind `tools`: an agent that calls functions.

use serde::{Deserialize, Serialize};

use super::offer::known_tools;
use super::{ExecutorKind, Kind, ToolOffer};
use crate::tool::Tool;
use crate::{AgentDefinition, Misfit, Problem, Table};

/// `[executor.tools]`; may be absent where the agent has `[[tools]]` of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { names = [\"echo\"] }")]
pub struct ToolsTable {
    /// The names of tools. The agent's own follow, as far as they are not named; the first of all gets messages that
    /// name none.
    #[serde(default)]
    pub names: Vec<String>,
    /// Whether arguments that are missing or do not fit are asked for; else the task fails.
    #[serde(default)]
    pub ask_missing: bool,
    /// MCP servers of `remotes.toml` whose tools are offered too, as `files`, or those of their tools that match a pattern
    /// with `*`, as `github:search_*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
}

impl Kind for ToolsTable {
    fn name(&self) -> &str {
        ExecutorKind::Tools.name()
    }

    fn table(&self) -> Result<Table, Misfit> {
        Table::of(self)
    }

    fn without_table() -> Option<Self> {
        Some(Self::default())
    }

    fn problems(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem> {
        if !self.names.is_empty() || !agent.tools.is_empty() || !self.mcp.is_empty() {
            return Vec::new();
        }
        let own = agent.own_tools();
        let known = known_tools(tools, &own);
        let listed = known.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ");
        vec![Problem::at("names", format!("needs at least one tool; there are: {listed}"))]
    }

    fn offer(&self) -> Option<ToolOffer<'_>> {
        Some(ToolOffer { key: "names", names: &self.names, mcp: &self.mcp, are_skills: true })
    }

    fn resumes_because(&self) -> Option<&'static str> {
        (!self.mcp.is_empty()).then_some(
            "whether a call of an MCP server is repeated after a crash is said by `trust_hints` of the server",
        )
    }
}
