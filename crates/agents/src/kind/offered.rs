//! What the kinds that offer tools have in common: the tools that their tables name, and what they take of MCP servers.

use crate::tool::{Tool, check_schema};
use crate::{AgentDefinition, McpChoice, Problem};

/// The tools that a table names, beside those of the agent's own.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    /// The key of the names, as `executor.tools.names`.
    pub(super) key: &'a str,
    /// The names.
    pub(super) names: &'a [String],
}

impl Named<'_> {
    /// What is wrong with the names and the schemas of the tools, each with its key.
    pub(super) fn problems(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let own = agent.own_tools();
        let known = known_tools(tools, &own);
        for (index, name) in self.names.iter().enumerate() {
            let key = format!("{}[{index}]", self.key);
            let Some(tool) = known.iter().find(|tool| tool.name() == name) else {
                // What is wrong with a tool of its own is said there.
                if !agent.tools.iter().any(|own| own.name == *name) {
                    let listed = listed(&known);
                    problems.push(Problem::at(
                        key,
                        format!("there is no tool {name:?}; there are: {listed}"),
                    ));
                }
                continue;
            };
            if tool.input_schema().get("type") != Some(&"object".into()) {
                let fix = format!("the schema of {name}: `type` must be object");
                problems.push(Problem::at(key.clone(), fix));
            }
            for unheeded in check_schema(tool.input_schema()) {
                problems
                    .push(Problem::at(key.clone(), format!("the schema of {name}: {unheeded}")));
            }
            if self.names.iter().take(index).any(|earlier| earlier == name) {
                problems.push(Problem::at(key, format!("{name:?} stands twice")));
            }
        }
        problems
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
    pub(super) fn offered<'t>(
        &self,
        known: &[&'t dyn Tool],
        own: &'t [impl Tool],
    ) -> Vec<&'t dyn Tool> {
        let named = self.names.iter();
        let named = named.filter_map(|name| known.iter().find(|tool| tool.name() == name)).copied();
        let unnamed = own.iter().map(|tool| -> &dyn Tool { tool });
        let unnamed = unnamed.filter(|tool| !self.names.iter().any(|name| name == tool.name()));
        named.chain(unnamed).collect()
    }
}

/// Those of the Worker, and the agent's own.
pub(super) fn known_tools<'a>(tools: &[&'a dyn Tool], own: &'a [impl Tool]) -> Vec<&'a dyn Tool> {
    tools.iter().copied().chain(own.iter().map(|tool| -> &dyn Tool { tool })).collect()
}

/// The names of tools, for people.
pub(super) fn listed(tools: &[&dyn Tool]) -> String {
    tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ")
}

/// What is wrong with what a table takes of MCP servers, as far as it tells. `key` is that of the list.
pub(super) fn mcp_problems(key: &str, mcp: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, written) in mcp.iter().enumerate() {
        let McpChoice { server, pattern } = McpChoice::of(written);
        if server.is_empty() || pattern.is_empty() {
            let fix = format!(
                "{written:?} must be the name of an MCP server, with a pattern of its tools if not all are meant, as \
                 \"files\" or \"github:search_*\""
            );
            problems.push(Problem::at(format!("{key}[{index}]"), fix));
        } else if mcp.iter().take(index).any(|earlier| earlier == written) {
            problems
                .push(Problem::at(format!("{key}[{index}]"), format!("{written:?} stands twice")));
        }
    }
    problems
}

/// What a table takes of MCP servers, each with its key. What names no server is told by [`mcp_problems`].
#[cfg(any(test, feature = "build"))]
pub(super) fn mcp_choices<'a>(key: &str, mcp: &'a [String]) -> Vec<(String, McpChoice<'a>)> {
    let choices = mcp.iter().enumerate();
    let choices =
        choices.map(|(index, written)| (format!("{key}[{index}]"), McpChoice::of(written)));
    choices.filter(|(_, choice)| !choice.server.is_empty()).collect()
}
