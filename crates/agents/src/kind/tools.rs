//! The kind `tools`: an agent that calls functions.

use serde::{Deserialize, Serialize};

use crate::tool::{Tool, check_schema, skill_of};
use crate::{AgentDefinition, McpChoice, Recovery};
use a2a::model::AgentSkill;

/// `[executor.tools]`; may be absent where the agent has `[[tools]]` of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { names = [\"echo\"] }")]
pub struct ToolsTable {
    /// The names of tools. The agent's own follow, as far as they are not named; the first of all gets messages that
    /// name none.
    #[serde(default)]
    pub names: Vec<String>,
    /// Whether required arguments that are missing are asked for; else the task fails.
    #[serde(default)]
    pub ask_missing: bool,
    /// MCP servers of `remotes.toml` whose tools are offered too, as `files`, or those of their tools that match a pattern
    /// with `*`, as `github:search_*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
}

impl ToolsTable {
    pub(super) fn problems(
        &self,
        agent: &AgentDefinition,
        tools: &[&dyn Tool],
    ) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let own = agent.own_tools();
        let known = known_tools(tools, &own);
        let listed = known.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ");
        problems.extend(self.mcp_problems(agent));
        if self.names.is_empty() && agent.tools.is_empty() && self.mcp.is_empty() {
            let fix = format!("needs at least one tool; there are: {listed}");
            problems.push((NAMES.to_owned(), fix));
        }
        for (index, name) in self.names.iter().enumerate() {
            let key = format!("{NAMES}[{index}]");
            let Some(tool) = known.iter().find(|tool| tool.name() == name) else {
                // What is wrong with a tool of its own is said there.
                if !agent.tools.iter().any(|own| own.name == *name) {
                    problems.push((key, format!("there is no tool {name:?}; there are: {listed}")));
                }
                continue;
            };
            if tool.input_schema().get("type") != Some(&"object".into()) {
                let fix = format!("the schema of {name}: `type` must be object");
                problems.push((key.clone(), fix));
            }
            for unheeded in check_schema(tool.input_schema()) {
                problems.push((key.clone(), format!("the schema of {name}: {unheeded}")));
            }
            if self.names.iter().take(index).any(|earlier| earlier == name) {
                problems.push((key, format!("{name:?} stands twice")));
            }
        }
        problems
    }

    /// What is wrong with what the agent takes of MCP servers, as far as its file tells.
    fn mcp_problems(&self, agent: &AgentDefinition) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        for (index, written) in self.mcp.iter().enumerate() {
            let McpChoice { server, pattern } = McpChoice::of(written);
            if server.is_empty() || pattern.is_empty() {
                let fix = format!(
                    "{written:?} must be the name of an MCP server, with a pattern of its tools if not all are meant, as \
                     \"files\" or \"github:search_*\""
                );
                problems.push((format!("{MCP}[{index}]"), fix));
            } else if self.mcp.iter().take(index).any(|earlier| earlier == written) {
                problems.push((format!("{MCP}[{index}]"), format!("{written:?} stands twice")));
            }
        }
        let recovery = agent.executor.run.recovery;
        if !self.mcp.is_empty() && !matches!(recovery, None | Some(Recovery::Resume)) {
            let fix = "must be \"resume\", or be left out: whether a call of an MCP server is repeated after a crash is \
                       said by `trust_hints` of the server";
            problems.push(("executor.run.recovery".to_owned(), fix.to_owned()));
        }
        problems
    }

    /// What is taken of MCP servers, each with its key.
    #[cfg(any(test, feature = "build"))]
    pub(super) fn mcp(&self) -> Vec<(String, McpChoice<'_>)> {
        let choices = self.mcp.iter().enumerate();
        let choices =
            choices.map(|(index, written)| (format!("{MCP}[{index}]"), McpChoice::of(written)));
        // What names no server is told by the other check.
        choices.filter(|(_, choice)| !choice.server.is_empty()).collect()
    }

    /// Each tool is a skill.
    pub(super) fn skills(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<AgentSkill> {
        let own = agent.own_tools();
        self.offered(&known_tools(tools, &own), &own).into_iter().map(skill_of).collect()
    }

    /// What each tool needs of the deployment: the name of a tool and that of a secret or a variable.
    pub(super) fn needs(
        &self,
        agent: &AgentDefinition,
        tools: &[&dyn Tool],
    ) -> Vec<(String, String)> {
        let own = agent.own_tools();
        let offered = self.offered(&known_tools(tools, &own), &own);
        let needs = |tool: &dyn Tool| {
            let name = format!("tool {}", tool.name());
            tool.needs().into_iter().map(move |need| (name.clone(), need)).collect::<Vec<_>>()
        };
        offered.into_iter().flat_map(needs).collect()
    }

    /// The tools that are named, and then the agent's own.
    fn offered<'a>(&self, known: &[&'a dyn Tool], own: &'a [impl Tool]) -> Vec<&'a dyn Tool> {
        let named = self.names.iter();
        let named = named.filter_map(|name| known.iter().find(|tool| tool.name() == name)).copied();
        let unnamed = own.iter().map(|tool| -> &dyn Tool { tool });
        let unnamed = unnamed.filter(|tool| !self.names.iter().any(|name| name == tool.name()));
        named.chain(unnamed).collect()
    }
}

/// Those of the Worker, and the agent's own.
fn known_tools<'a>(tools: &[&'a dyn Tool], own: &'a [impl Tool]) -> Vec<&'a dyn Tool> {
    tools.iter().copied().chain(own.iter().map(|tool| -> &dyn Tool { tool })).collect()
}

const NAMES: &str = "executor.tools.names";
const MCP: &str = "executor.tools.mcp";
