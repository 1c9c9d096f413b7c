//! The tools that agents call: tools that their tables name, tools of the agent alone, and tools of MCP servers.

use super::KindContext;
use crate::table::no_such;
use crate::tool::{Tool, check_schema, skill_of};
use crate::{McpChoice, Problem};
use a2a::model::AgentSkill;

/// The tools that a table names for its executor, in addition to the tools of the agent alone. Keys are relative to the
/// table.
#[derive(Clone, Copy)]
pub(crate) struct ToolOffer<'a> {
    /// The key of `names` in the table.
    pub(crate) key: &'static str,
    /// The names of tools in Rust and of files in `tools/`.
    pub(crate) names: &'a [String],
    /// The key `mcp`: the choices of tools of MCP servers, as `files` or `github:search_*`.
    pub(crate) mcp: &'a [String],
    /// True if each tool is a skill of the agent.
    pub(crate) are_skills: bool,
}

impl<'a> ToolOffer<'a> {
    /// The problems of the names, of the schemas of tools, and of the form of `mcp`.
    pub(super) fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = self.mcp_problems();
        let known = agent.tools();
        for (index, name) in self.names.iter().enumerate() {
            let key = format!("{}[{index}]", self.key);
            let Some(tool) = known.iter().find(|tool| tool.name() == name) else {
                // The problems of a tool in the agent file are reported at `tools`.
                if !agent.own.iter().any(|own| own.name == *name) {
                    let fix = no_such("tool", name, known.iter().map(|tool| tool.name()));
                    problems.push(Problem::at(key, fix));
                }
                continue;
            };
            let mut report = |fix: String| problems.push(Problem::at(key.clone(), fix));
            if tool.input_schema().get("type") != Some(&"object".into()) {
                report(format!("the schema of {name}: `type` must be object"));
            }
            for fix in check_schema(tool.input_schema()) {
                report(format!("the schema of {name}: {fix}"));
            }
            if is_repeated(self.names, index) {
                report(format!("{name:?} stands twice"));
            }
        }
        problems
    }

    fn mcp_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, written) in self.mcp.iter().enumerate() {
            let McpChoice { server, pattern } = McpChoice::of(written);
            let fix = if server.is_empty() || pattern.is_empty() {
                format!(
                    "{written:?} must be the name of an MCP server, with a pattern of its tools if not all are meant, as \
                     \"files\" or \"github:search_*\""
                )
            } else if is_repeated(self.mcp, index) {
                format!("{written:?} stands twice")
            } else {
                continue;
            };
            problems.push(Problem::at(format!("mcp[{index}]"), fix));
        }
        problems
    }

    /// The choices of tools of MCP servers, each with its key. Texts without the name of a server are left out; they are
    /// among the problems.
    pub(super) fn mcp_choices(self) -> impl Iterator<Item = (String, McpChoice<'a>)> {
        let choices = self.mcp.iter().map(|written| McpChoice::of(written)).enumerate();
        let named = choices.filter(|(_, choice)| !choice.server.is_empty());
        named.map(|(index, choice)| (format!("mcp[{index}]"), choice))
    }

    /// The secrets and variables that tools need, each as a pair: the tool, and the name of the secret or variable.
    pub(super) fn needs(&self, agent: &KindContext<'_>) -> Vec<(String, String)> {
        let needs = |tool: &dyn Tool| {
            let name = format!("tool {}", tool.name());
            tool.needs().into_iter().map(move |need| (name.clone(), need)).collect::<Vec<_>>()
        };
        self.tools(agent).into_iter().flat_map(needs).collect()
    }

    /// The tools as skills.
    pub(crate) fn skills(&self, agent: &KindContext<'_>) -> Vec<AgentSkill> {
        self.tools(agent).into_iter().map(skill_of).collect()
    }

    /// The tools that the table names, then the other tools of the agent alone.
    fn tools<'t>(&self, agent: &'t KindContext<'_>) -> Vec<&'t dyn Tool> {
        let known = agent.tools();
        let named = self.names.iter();
        let named = named.filter_map(|name| known.iter().find(|tool| tool.name() == name)).copied();
        let unnamed =
            agent.own_tools().filter(|tool| !self.names.iter().any(|name| name == tool.name()));
        named.chain(unnamed).collect()
    }
}

/// True if an earlier text of a list is the same.
fn is_repeated(texts: &[String], index: usize) -> bool {
    texts.iter().take(index).any(|earlier| Some(earlier) == texts.get(index))
}
