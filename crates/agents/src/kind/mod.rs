//! The kinds of executors that an agent file may name, a file each: the table of the kind, what must hold for
//! it, and the skills that follow from it. The Worker has a constructor for each, by the same name.
//!
//! A new kind is a file here, a variant of [`Executor`] with its name in [`ExecutorKind`], and a constructor in
//! the registry of the Worker.

mod rust;
mod script;
mod tools;

use serde::Deserialize;

use super::definition::{AgentDefinition, RunSettings, SkillDefinition};
use crate::tool::Tool;
use crate::{Misfit, Table};
use a2a::model::AgentSkill;

pub use rust::RustTable;
pub use script::ScriptTable;
pub use tools::ToolsTable;

/// What answers for an agent: the table `[executor]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "ExecutorTables")]
pub struct ExecutorDefinition {
    /// The kind with its table.
    pub executor: Executor,
    /// How runs are bounded, and what happens to interrupted ones.
    pub run: RunSettings,
}

/// The table of each kind of executor.
#[derive(Clone, Debug, PartialEq)]
pub enum Executor {
    /// Calls tools.
    Tools(ToolsTable),
    /// Follows fixed rules, for tests and demonstrations.
    Script(ScriptTable),
    /// Is written in Rust, and registered by the Worker under a name.
    Rust(RustTable),
}

impl Executor {
    /// The name of the kind, as the file says it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tools(_) => ExecutorKind::Tools.name(),
            Self::Script(_) => ExecutorKind::Script.name(),
            Self::Rust(_) => ExecutorKind::Rust.name(),
        }
    }

    /// The table as the constructor of the kind gets it.
    ///
    /// # Errors
    ///
    /// None that an agent file could cause.
    pub fn table(&self) -> Result<Table, Misfit> {
        match self {
            Self::Tools(table) => Table::of(table),
            Self::Script(table) => Table::of(table),
            Self::Rust(table) => Table::of(table),
        }
    }

    /// What is wrong with an agent of this kind, each with its key and the fix.
    pub(crate) fn problems(
        &self,
        agent: &AgentDefinition,
        tools: &[&dyn Tool],
    ) -> Vec<(String, String)> {
        match self {
            Self::Tools(table) => table.problems(agent, tools),
            Self::Script(table) => table.problems(agent),
            Self::Rust(table) => table.problems(agent),
        }
    }

    /// The skills of an agent of this kind.
    pub(crate) fn skills(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<AgentSkill> {
        match self {
            Self::Tools(table) => table.skills(agent, tools),
            Self::Script(_) | Self::Rust(_) => described(agent),
        }
    }
}

/// The names of the kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExecutorKind {
    Tools,
    Script,
    Rust,
}

impl ExecutorKind {
    fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Script => "script",
            Self::Rust => "rust",
        }
    }
}

/// `[executor]` as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecutorTables {
    kind: ExecutorKind,
    #[serde(default)]
    run: RunSettings,
    tools: Option<ToolsTable>,
    script: Option<ScriptTable>,
    rust: Option<RustTable>,
}

impl TryFrom<ExecutorTables> for ExecutorDefinition {
    type Error = String;

    fn try_from(tables: ExecutorTables) -> Result<Self, String> {
        let ExecutorTables { kind, run, tools, script, rust } = tables;
        let given = [
            (ExecutorKind::Tools, tools.map(Executor::Tools)),
            (ExecutorKind::Script, script.map(Executor::Script)),
            (ExecutorKind::Rust, rust.map(Executor::Rust)),
        ];
        let mut chosen = None;
        for (other, executor) in given {
            match executor {
                Some(executor) if other == kind => chosen = Some(executor),
                Some(_) => {
                    let (other, kind) = (other.name(), kind.name());
                    return Err(format!(
                        "has a table [executor.{other}], but its kind is {kind}; keep one of the two"
                    ));
                }
                None => {}
            }
        }
        let name = kind.name();
        let executor = chosen.ok_or_else(|| format!("needs a table [executor.{name}]"))?;
        Ok(Self { executor, run })
    }
}

/// The skills that an agent file describes itself.
fn described(agent: &AgentDefinition) -> Vec<AgentSkill> {
    let bare = |own: &SkillDefinition| AgentSkill {
        id: own.id.clone(),
        name: own.id.clone(),
        description: own.id.clone(),
        tags: vec![own.id.clone()],
        examples: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
    };
    agent.skills.iter().map(|own| merged(bare(own), own)).collect()
}

/// A skill with what an agent file says of it.
fn merged(skill: AgentSkill, own: &SkillDefinition) -> AgentSkill {
    let or = |own: &Vec<String>, derived: Vec<String>| {
        if own.is_empty() { derived } else { own.clone() }
    };
    AgentSkill {
        id: skill.id,
        name: own.name.clone().unwrap_or(skill.name),
        description: own.description.clone().unwrap_or(skill.description),
        tags: or(&own.tags, skill.tags),
        examples: or(&own.examples, skill.examples),
        input_modes: or(&own.input_modes, skill.input_modes),
        output_modes: or(&own.output_modes, skill.output_modes),
    }
}
