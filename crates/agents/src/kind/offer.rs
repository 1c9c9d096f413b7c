//! The tools that agents call: tools that their tables name, tools of the agent alone, and tools of MCP servers.

use super::KindContext;
use crate::table::no_such;
use crate::tool::{Tool, schema_problems};
use crate::{McpChoice, Problem};

/// The tools that a table names for its executor, in addition to the tools of the agent alone. Keys are relative to the
/// table.
#[derive(Clone, Copy)]
pub(crate) struct ToolOffer<'a> {
    /// The key of `names` in the table.
    pub(crate) key: &'static str,
    /// The names of files in `tools/` and of tools that the Worker registers.
    pub(crate) names: &'a [String],
    /// The key `mcp`: the choices of tools of MCP servers, as `files` or `github:search_*`.
    pub(crate) mcp: &'a [String],
    /// True if each tool is a skill of the agent.
    pub(crate) are_skills: bool,
}

/// A tool that an executor calls.
pub(crate) enum Offered<'a> {
    /// A tool that a file describes.
    Known(&'a dyn Tool),
    /// The name of a tool that the Worker has to register.
    Registered(&'a str),
}

impl<'a> ToolOffer<'a> {
    /// The problems of the names, of the schemas of tools, and of the form of `mcp`.
    pub(super) fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = self.mcp_problems();
        for (index, name) in self.names.iter().enumerate() {
            let key = format!("{}[{index}]", self.key);
            let mut report = |fix: String| problems.push(Problem::at(key.clone(), fix));
            // The problems of a tool in the agent file are reported at `tools`.
            if !agent.tools.describes(name) && !agent.may_register {
                report(no_such("tool", name, agent.tools.all().map(Tool::name)));
            }
            for fix in agent.tools.find(name).map(schema_problems).unwrap_or_default() {
                report(fix);
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
        let known = self.tools(agent).filter_map(|tool| match tool {
            Offered::Known(tool) => Some(tool),
            Offered::Registered(_) => None,
        });
        known.flat_map(needs).collect()
    }

    /// The tools that the table names, then the other tools of the agent alone.
    pub(crate) fn tools<'t>(
        &'t self,
        agent: &'t KindContext<'_>,
    ) -> impl Iterator<Item = Offered<'t>> {
        let named = self.names.iter().filter_map(|name| match agent.tools.find(name) {
            Some(tool) => Some(Offered::Known(tool)),
            None if agent.tools.describes(name) => None,
            None => Some(Offered::Registered(name)),
        });
        let is_named = |tool: &&dyn Tool| self.names.iter().any(|name| name == tool.name());
        named.chain(agent.tools.own().filter(move |tool| !is_named(tool)).map(Offered::Known))
    }

    /// The names that the files do not explain: tools that the Worker has to register.
    pub(crate) fn registered<'t>(
        &'t self,
        agent: &'t KindContext<'_>,
    ) -> impl Iterator<Item = &'t str> {
        self.tools(agent).filter_map(|tool| match tool {
            Offered::Registered(name) => Some(name),
            Offered::Known(_) => None,
        })
    }
}

/// True if an earlier text of a list is the same.
fn is_repeated(texts: &[String], index: usize) -> bool {
    texts.iter().take(index).any(|earlier| Some(earlier) == texts.get(index))
}
