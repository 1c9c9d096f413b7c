//! The tools that agents call: those that their tables name, those of their own, and what they take of MCP servers.

use super::KindContext;
use crate::table::no_such;
use crate::tool::{Tool, check_schema, skill_of};
use crate::{McpChoice, Problem};
use a2a::model::AgentSkill;

/// The tools that a table names for its executor, in addition to the agent's own. Keys are those below the table.
#[derive(Clone, Copy)]
pub(crate) struct ToolOffer<'a> {
    /// The key of the names, as `names`.
    pub(crate) key: &'static str,
    /// The names of tools in Rust, and of files in `tools/`.
    pub(crate) names: &'a [String],
    /// The key `mcp`: what is taken of MCP servers, as `files` or `github:search_*`.
    pub(crate) mcp: &'a [String],
    /// Whether each tool is a skill of the agent.
    pub(crate) are_skills: bool,
}

impl<'a> ToolOffer<'a> {
    /// What is wrong with the names, the schemas of the tools, and what is taken of MCP servers, as far as the table shows.
    pub(super) fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = self.mcp_problems();
        let known = agent.tools();
        for (index, name) in self.names.iter().enumerate() {
            let key = format!("{}[{index}]", self.key);
            let Some(tool) = known.iter().find(|tool| tool.name() == name) else {
                // What is wrong with a tool of its own is reported at `tools`.
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

    /// What is taken of MCP servers, each with its key. Texts that name no server are problems.
    pub(super) fn mcp_choices(self) -> impl Iterator<Item = (String, McpChoice<'a>)> {
        let choices = self.mcp.iter().map(|written| McpChoice::of(written)).enumerate();
        let named = choices.filter(|(_, choice)| !choice.server.is_empty());
        named.map(|(index, choice)| (format!("mcp[{index}]"), choice))
    }

    /// The name of each tool with that of each secret or variable that it needs.
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

    /// The tools that are named, and then the agent's own.
    fn tools<'t>(&self, agent: &'t KindContext<'_>) -> Vec<&'t dyn Tool> {
        let known = agent.tools();
        let named = self.names.iter();
        let named = named.filter_map(|name| known.iter().find(|tool| tool.name() == name)).copied();
        let unnamed =
            agent.own_tools().filter(|tool| !self.names.iter().any(|name| name == tool.name()));
        named.chain(unnamed).collect()
    }
}

/// Whether the same text stands before this one in a list.
fn is_repeated(texts: &[String], index: usize) -> bool {
    texts.iter().take(index).any(|earlier| Some(earlier) == texts.get(index))
}
