//! The kinds of executors that an agent file may name: the table of the kind, what must hold for it, and the skills
//! that follow from it. The Worker has a constructor for each.
//!
//! A kind that comes with every Worker is a file here, which implements [`Kind`] for its table, and a line in the list `kinds!`.
//! The list makes [`ExecutorKind`] and [`Executor`]; a file without its line does not compile, nor does a line without its file, nor
//! the Worker without a constructor for each line. Every other name is one under which a Worker registers an executor of its own.

mod executor;
mod http;
mod model;
mod name;
mod offer;
mod registered;
mod remote;
mod script;
mod tables;
mod tools;

use serde::Deserialize;
use serde::de::MapAccess;

use super::definition::{AgentDefinition, RunSettings};
use crate::tool::Tool;
use crate::{Misfit, Problem, Table};

pub use http::{HttpTable, check_agent_url, check_path};
pub use model::{DEV_MODEL, ModelLimits, ModelSettings, ModelTable, Price, Provider};
pub use name::check_kind;
pub(crate) use offer::ToolOffer;
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

/// A kind of executor, as its table `[executor.<kind>]` in an agent file describes it. Keys are those below the table.
pub(crate) trait Kind {
    /// The name of the kind, as agent files write it.
    fn name(&self) -> &str;

    /// The table as the constructor of the kind gets it.
    fn table(&self) -> Result<Table, Misfit>;

    /// The table of an agent file that has none; `None` if the kind needs one.
    fn without_table() -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// What is wrong with the table, each with its key and the fix.
    fn problems(&self, agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem>;

    /// The texts in which `${NAME}` stands for a secret or a variable, each with its key.
    fn filled_in(&self) -> Vec<(String, &str)> {
        Vec::new()
    }

    /// The tools that the executor calls; `None` for a kind that calls none.
    fn offer(&self) -> Option<ToolOffer<'_>> {
        None
    }

    /// The remote agents that the table names, each with its key.
    #[cfg(any(test, feature = "build"))]
    fn remotes(&self) -> Vec<(String, &str)> {
        Vec::new()
    }

    /// The remote agent whose skills `skills_from = ["remote"]` takes.
    fn front_of(&self) -> Option<&str> {
        None
    }

    /// Why `recovery` must be `resume`; `None` if it may be anything.
    fn resumes_because(&self) -> Option<&'static str> {
        None
    }

    /// What the problem of an agent without skills says behind "needs at least one `[[skills]]`".
    fn skills_hint(&self) -> &'static str {
        ""
    }

    /// Takes the files that the table names, which stand relative to the file of its agent, into it. Returns what cannot be read,
    /// each with its key; it is left out.
    #[cfg(any(test, feature = "build"))]
    fn read_files(&mut self, _agent_file: &str) -> Vec<Problem> {
        Vec::new()
    }
}

/// Makes the enums of the kinds from their list.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $name:literal, $table:ty;)*) => {
        /// A kind that comes with every Worker.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ExecutorKind {
            $($(#[$about])* $kind,)*
        }

        /// The table of each kind of executor.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Executor {
            $($(#[$about])* $kind($table),)*
            /// Is written in Rust, and registered by the Worker under the name of the kind.
            Registered(RegisteredTable),
        }

        impl ExecutorKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Its name in agent files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Reads its table, the next value of `[executor]`.
            fn read_table<'de, M: MapAccess<'de>>(self, members: &mut M) -> Result<Executor, M::Error> {
                match self {
                    $(Self::$kind => members.next_value().map(Executor::$kind),)*
                }
            }

            /// What a file without its table means.
            fn without_table(self) -> Option<Executor> {
                match self {
                    $(Self::$kind => <$table>::without_table().map(Executor::$kind),)*
                }
            }
        }

        impl Executor {
            fn as_kind(&self) -> &dyn Kind {
                match self {
                    $(Self::$kind(table) => table,)*
                    Self::Registered(table) => table,
                }
            }

            #[cfg(any(test, feature = "build"))]
            fn as_kind_mut(&mut self) -> &mut dyn Kind {
                match self {
                    $(Self::$kind(table) => table,)*
                    Self::Registered(table) => table,
                }
            }
        }
    };
}

kinds! {
    /// Calls tools.
    Tools = "tools", ToolsTable;
    /// Follows fixed rules, for tests and demonstrations.
    Script = "script", ScriptTable;
    /// Passes everything on to an agent elsewhere.
    Remote = "remote", RemoteTable;
    /// Asks an agent in any language by one POST.
    Http = "http", HttpTable;
    /// Asks a language model.
    Model = "model", ModelTable;
}

impl ExecutorKind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The names of all kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|kind| kind.name())
    }
}
