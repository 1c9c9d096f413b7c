//! The kinds of executors in agent files: the table of each kind, its checks, and the skills that are derived from it. The Worker
//! has a constructor for each kind.
//!
//! A built-in kind is a file in this folder and a line in the list `kinds!`. The file implements `KindTable` (its reader, in the
//! checker and in the Worker) and `Kind` (the data that the checker derives from it). The list makes [`ExecutorKind`] and the reader
//! of `[executor]`. Compilation fails if a file has no line, if a line has no file, or if the Worker has no constructor for a line.
//! Any other name is the name of an executor that a Worker registers.

#[cfg(any(test, feature = "checker"))]
mod context;
#[cfg(any(test, feature = "checker"))]
mod executor;
mod http;
mod model;
mod name;
#[cfg(any(test, feature = "checker"))]
mod offer;
#[cfg(any(test, feature = "checker"))]
mod registered;
mod remote;
#[cfg(any(test, feature = "checker"))]
mod schema;
mod script;
mod tools;

#[cfg(any(test, feature = "checker"))]
use std::fmt;

#[cfg(any(test, feature = "checker"))]
use crate::Problem;
use crate::table::{Keys, Reader, Texts};
use crate::{Misfit, Table};

#[cfg(any(test, feature = "checker"))]
pub(crate) use context::{KindContext, KnownTools};
#[cfg(any(test, feature = "checker"))]
pub(crate) use executor::ExecutorDefinition;
pub use http::{HttpTable, check_agent_url};
pub use model::{DEV_MODEL, ModelLimits, ModelSettings, Price, Provider};
pub use name::check_kind;
#[cfg(any(test, feature = "checker"))]
pub(crate) use offer::{Offered, ToolOffer};
pub use remote::RemoteTable;
#[cfg(any(test, feature = "checker"))]
pub(crate) use schema::executor_schema;
pub use script::ScriptTable;
pub use tools::ToolsTable;

/// The table of a kind, `[executor.<kind>]`, as the type that its executor uses.
pub(crate) trait KindTable: Sized {
    /// The keys of the table.
    const KEYS: &'static Keys;

    /// Reads the table. Problems are collected in `keys`, and defaults replace invalid values.
    fn read(keys: &mut Reader<'_>) -> Self;
}

/// The data that the checker derives from the table of a kind. Keys are relative to the table.
#[cfg(any(test, feature = "checker"))]
pub(crate) trait Kind: fmt::Debug {
    /// The problems of the table that the reader cannot know because they depend on the agent, each with its key and the fix.
    fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem>;

    /// The texts in which `${NAME}` is a secret or a variable, each with its key.
    fn filled_in(&self) -> Vec<(String, &str)> {
        Vec::new()
    }

    /// The tools that the executor calls; `None` for a kind without tools.
    fn offer(&self) -> Option<ToolOffer<'_>> {
        None
    }

    /// The names of remote agents in the table, each with its key.
    fn remotes(&self) -> Vec<(String, &str)> {
        Vec::new()
    }

    /// The remote agent whose skills `skills_from = ["remote"]` shows.
    fn front_of(&self) -> Option<&str> {
        None
    }

    /// The reason why `recovery` must be `resume`; `None` if other values are allowed.
    fn resumes_because(&self) -> Option<&'static str> {
        None
    }

    /// The text after "needs at least one `[[skills]]`" in the problem of an agent without skills.
    fn skills_hint(&self) -> &'static str {
        ""
    }

    /// The keys whose values are names of files that the checker reads.
    fn files(&self) -> &'static [TableFile] {
        &[]
    }
}

/// A key of a table whose value is the name of a file, relative to the file of the agent. The checker replaces the name by the
/// content of the file.
#[cfg(any(test, feature = "checker"))]
pub(crate) struct TableFile {
    /// The key of the name.
    pub(crate) key: &'static str,
    /// The key of the content.
    pub(crate) content_key: &'static str,
    /// True if the content is JSON, otherwise it is a text.
    pub(crate) is_json: bool,
}

/// Passes the list of kinds to the macro `$make`.
macro_rules! kinds {
    ($make:ident) => {
        $make! {
            /// Calls tools.
            Tools = "tools", ToolsTable;
            /// Follows fixed rules, for tests and demonstrations.
            Script = "script", ScriptTable;
            /// Forwards each message to an agent elsewhere.
            Remote = "remote", RemoteTable;
            /// Posts each turn to an agent in any language.
            Http = "http", HttpTable;
            /// Calls a language model.
            Model = "model", ModelSettings;
        }
    };
}

#[cfg(any(test, feature = "checker"))]
use kinds;

/// Makes the enum of the kinds, and for each table a public function that reads it.
macro_rules! kinds_and_doors {
    ($($(#[$about:meta])* $kind:ident = $name:literal, $table:ty;)*) => {
        /// A built-in kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ExecutorKind {
            $($(#[$about])* $kind,)*
        }

        impl ExecutorKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The name of the kind in agent files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        $(impl $table {
            /// Reads the table of an agent in the checked form.
            ///
            /// # Errors
            ///
            /// The first problem of the table.
            pub fn of(table: &Table) -> Result<Self, Misfit> {
                let read = Reader::read_checked(table, Texts::Literal, read_table);
                read.map_err(|problem| problem.under(concat!("executor.", $name, ".")).into())
            }
        })*
    };
}

kinds!(kinds_and_doors);

/// Reads the table of a kind, and reports unknown keys.
fn read_table<T: KindTable>(keys: &mut Reader<'_>) -> T {
    keys.only(T::KEYS);
    T::read(keys)
}

impl ExecutorKind {
    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The names of all kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|kind| kind.name())
    }
}
