//! The kind `tools`: an agent that calls functions.

use serde::{Deserialize, Serialize};

#[cfg(any(test, feature = "build"))]
use super::offered::mcp_choices;
use super::offered::{Named, known_tools, listed, mcp_problems};
#[cfg(any(test, feature = "build"))]
use crate::McpChoice;
use crate::tool::{Tool, skill_of};
use crate::{AgentDefinition, Problem, Recovery};
use a2a::model::AgentSkill;

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

impl ToolsTable {
    pub(super) fn problems(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem> {
        let mut problems = self.mcp_problems(agent);
        if self.names.is_empty() && agent.tools.is_empty() && self.mcp.is_empty() {
            let own = agent.own_tools();
            let listed = listed(&known_tools(tools, &own));
            problems.push(Problem::at(
                NAMES.to_owned(),
                format!("needs at least one tool; there are: {listed}"),
            ));
        }
        problems.extend(self.named().problems(agent, tools));
        problems
    }

    fn named(&self) -> Named<'_> {
        Named { key: NAMES, names: &self.names }
    }

    /// What is wrong with what the agent takes of MCP servers, as far as its file tells.
    fn mcp_problems(&self, agent: &AgentDefinition) -> Vec<Problem> {
        let mut problems = mcp_problems(MCP, &self.mcp);
        let recovery = agent.executor.run.recovery;
        if !self.mcp.is_empty() && !matches!(recovery, None | Some(Recovery::Resume)) {
            let fix = "must be \"resume\", or be left out: whether a call of an MCP server is repeated after a crash is \
                       said by `trust_hints` of the server";
            problems.push(Problem::at("executor.run.recovery", fix));
        }
        problems
    }

    /// What is taken of MCP servers, each with its key.
    #[cfg(any(test, feature = "build"))]
    pub(super) fn mcp(&self) -> Vec<(String, McpChoice<'_>)> {
        mcp_choices(MCP, &self.mcp)
    }

    /// Each tool is a skill.
    pub(super) fn skills(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<AgentSkill> {
        let own = agent.own_tools();
        self.named().offered(&known_tools(tools, &own), &own).into_iter().map(skill_of).collect()
    }

    /// What each tool needs of the deployment: the name of a tool and that of a secret or a variable.
    pub(super) fn needs(
        &self,
        agent: &AgentDefinition,
        tools: &[&dyn Tool],
    ) -> Vec<(String, String)> {
        self.named().needs(agent, tools)
    }
}

const NAMES: &str = "executor.tools.names";
const MCP: &str = "executor.tools.mcp";
