//! The kinds of executors that an agent file may name: the table of the kind, what must hold for it, and the skills
//! that follow from it. The Worker has a constructor for each, by the same name.
//!
//! A new kind that comes with every Worker is a file here, a variant of [`Executor`] with its name in [`OWN_KINDS`],
//! and a constructor in the registry of the Worker. Every other name is one under which a Worker registers an
//! executor of its own.

mod closeness;
mod http;
mod model;
mod offered;
mod reader;
mod registered;
mod remote;
mod script;
mod tables;
mod tools;

use serde::Deserialize;

use super::definition::{AgentDefinition, RunSettings};
#[cfg(any(test, feature = "build"))]
use crate::McpChoice;
use crate::tool::Tool;
use crate::{Misfit, Problem, Table};
use a2a::model::AgentSkill;

pub use closeness::closest;
pub(crate) use closeness::with_meant_key;
pub use http::{HttpTable, check_agent_url, check_path};
pub use model::{DEV_MODEL, ModelLimits, ModelSettings, ModelTable, Price, Provider};
pub use registered::RegisteredTable;
pub use remote::RemoteTable;
pub use script::ScriptTable;
pub use tools::ToolsTable;

/// What answers for an agent: the table `[executor]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "tables::ExecutorTables")]
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
    /// Passes everything on to an agent elsewhere.
    Remote(RemoteTable),
    /// Asks an agent in any language by one POST.
    Http(HttpTable),
    /// Asks a language model.
    Model(Box<ModelTable>),
    /// Is written in Rust, and registered by the Worker under the name of the kind.
    Registered(RegisteredTable),
}

impl Executor {
    /// The name of the kind, as the file says it.
    pub fn kind(&self) -> &str {
        match self {
            Self::Tools(_) => TOOLS,
            Self::Script(_) => SCRIPT,
            Self::Remote(_) => REMOTE,
            Self::Http(_) => HTTP,
            Self::Model(_) => MODEL,
            Self::Registered(table) => &table.kind,
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
            Self::Remote(table) => Table::of(table),
            Self::Http(table) => Table::of(table),
            Self::Model(table) => Table::of(table),
            Self::Registered(table) => Table::of(&table.settings),
        }
    }

    /// What is wrong with an agent of this kind, each with its key and the fix.
    pub(crate) fn problems(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem> {
        match self {
            Self::Tools(table) => table.problems(agent, tools),
            Self::Script(table) => table.problems(agent),
            Self::Remote(table) => table.problems(agent),
            Self::Http(table) => table.problems(agent),
            Self::Model(table) => table.problems(agent, tools),
            Self::Registered(table) => table.problems(agent),
        }
    }

    /// The secrets and variables of the deployment that an agent of this kind needs, as far as its file and its tools
    /// tell: each with who needs it.
    pub(crate) fn needs(
        &self,
        agent: &AgentDefinition,
        tools: &[&dyn Tool],
    ) -> Vec<(String, String)> {
        match self {
            Self::Tools(table) => table.needs(agent, tools),
            Self::Model(table) => table.needs(agent, tools),
            Self::Script(_) | Self::Remote(_) => Vec::new(),
            Self::Http(table) => table.needs(),
            Self::Registered(table) => table.needs(),
        }
    }

    /// The remote agents that an agent of this kind names, each with its key.
    #[cfg(any(test, feature = "build"))]
    pub(crate) fn remotes(&self) -> Vec<(String, &str)> {
        match self {
            Self::Remote(table) => table.remotes(),
            Self::Model(table) => table.remotes(),
            Self::Tools(_) | Self::Script(_) | Self::Http(_) | Self::Registered(_) => Vec::new(),
        }
    }

    /// Whether an agent of this kind offers tools of MCP servers.
    pub(crate) fn has_mcp(&self) -> bool {
        match self {
            Self::Tools(table) => !table.mcp.is_empty(),
            Self::Model(table) => !table.settings().mcp.is_empty(),
            Self::Script(_) | Self::Remote(_) | Self::Http(_) | Self::Registered(_) => false,
        }
    }

    /// What an agent of this kind takes of MCP servers, each with its key.
    #[cfg(any(test, feature = "build"))]
    pub(crate) fn mcp(&self) -> Vec<(String, McpChoice<'_>)> {
        match self {
            Self::Tools(table) => table.mcp(),
            Self::Model(table) => table.mcp(),
            Self::Script(_) | Self::Remote(_) | Self::Http(_) | Self::Registered(_) => Vec::new(),
        }
    }

    /// The skills that the tools of an agent of this kind are.
    pub(crate) fn tool_skills(
        &self,
        agent: &AgentDefinition,
        tools: &[&dyn Tool],
    ) -> Vec<AgentSkill> {
        match self {
            Self::Tools(table) => table.skills(agent, tools),
            Self::Script(_)
            | Self::Remote(_)
            | Self::Model(_)
            | Self::Http(_)
            | Self::Registered(_) => Vec::new(),
        }
    }
}

const TOOLS: &str = "tools";
const SCRIPT: &str = "script";
const REMOTE: &str = "remote";
const HTTP: &str = "http";
const MODEL: &str = "model";

/// The kinds that come with every Worker.
const OWN_KINDS: [&str; 5] = [TOOLS, SCRIPT, REMOTE, HTTP, MODEL];

/// Names that no Worker can register: the key beside the tables, and what is no name of a kind.
const RESERVED_KINDS: [&str; 2] = ["run", "rust"];

/// Whether a Worker may register an executor under this name, and agent files name it as their kind.
///
/// # Errors
///
/// What a name must be.
pub fn check_kind(name: &str) -> Result<(), String> {
    if OWN_KINDS.contains(&name) || RESERVED_KINDS.contains(&name) {
        return Err("must be a name of your own: this one belongs to a2a-edge".to_owned());
    }
    if let Some(meant) = closest(name, OWN_KINDS) {
        return Err(format!(
            "must not be {name:?}: did you mean {meant:?}? A name of your own differs by more than a letter from each kind of a2a-edge: \
             {}",
            OWN_KINDS.join(", ")
        ));
    }
    let is_plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter)
    };
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    match begins_well && name.chars().all(is_plain) && name.len() <= MAX_KIND_BYTES {
        true => Ok(()),
        false => Err(format!(
            "must be 1 to {MAX_KIND_BYTES} lower-case letters, digits, `-` and `_`, and begin with a letter"
        )),
    }
}

/// The longest name of a kind.
const MAX_KIND_BYTES: usize = 64;
