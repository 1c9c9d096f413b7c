//! The kind `tools`: an agent that calls functions.

use serde::{Deserialize, Serialize};

use super::merged;
use crate::AgentDefinition;
use crate::tool::{Tool, check_schema, skill_of};
use a2a::model::AgentSkill;

/// `[executor.tools]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { names = [\"echo\"] }")]
pub struct ToolsTable {
    /// The names of tools; the first one gets messages that name none.
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
        let known = tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ");
        if self.names.is_empty() {
            let fix = format!("needs at least one tool; there are: {known}");
            problems.push((NAMES.to_owned(), fix));
        }
        for (index, name) in self.names.iter().enumerate() {
            let key = format!("{NAMES}[{index}]");
            let Some(tool) = tools.iter().find(|tool| tool.name() == name) else {
                problems.push((key, format!("there is no tool {name:?}; there are: {known}")));
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
        for (index, skill) in agent.skills.iter().enumerate() {
            if !self.names.contains(&skill.id) {
                let fix = format!(
                    "no tool of this agent is called {:?}; add it to `{NAMES}` or remove the skill",
                    skill.id
                );
                problems.push((format!("skills[{index}].id"), fix));
            }
        }
        problems
    }

    /// Each tool is a skill, with what the file says of it.
    pub(super) fn skills(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<AgentSkill> {
        let named = self.names.iter();
        let named = named.filter_map(|name| tools.iter().find(|tool| tool.name() == name));
        let skill = |tool: &dyn Tool| {
            let skill = skill_of(tool);
            match agent.skills.iter().find(|own| own.id == skill.id) {
                Some(own) => merged(skill, own),
                None => skill,
            }
        };
        named.map(|tool| skill(*tool)).collect()
    }
}

const NAMES: &str = "executor.tools.names";
