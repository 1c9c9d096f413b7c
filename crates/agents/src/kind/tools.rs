//! The kind `tools`: an agent that calls functions.

use serde::{Deserialize, Serialize};

use crate::AgentDefinition;
use crate::tool::{Tool, check_schema, skill_of};
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
        if self.names.is_empty() && agent.tools.is_empty() {
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
