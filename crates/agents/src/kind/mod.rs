//! The kinds of executors that an agent file may name: the table of the kind, what must hold for it, and the skills
//! that follow from it. The Worker has a constructor for each.
//!
//! A kind that comes with every Worker is a file here, which implements `KindTable` (its reader, in the build and in the Worker) and `Kind`
//! (what the build derives from it), and a line in the list `kinds!`. The list makes [`ExecutorKind`] and the reader of `[executor]`; a file without its line does not compile, nor does a line without its file, nor
//! the Worker without a constructor for each line. Every other name is one under which a Worker registers an executor of its own.

#[cfg(any(test, feature = "build"))]
mod context;
#[cfg(any(test, feature = "build"))]
mod executor;
mod http;
mod model;
mod name;
#[cfg(any(test, feature = "build"))]
mod offer;
#[cfg(any(test, feature = "build"))]
mod registered;
mod remote;
mod script;
mod tools;

#[cfg(any(test, feature = "build"))]
use std::fmt;

#[cfg(any(test, feature = "build"))]
use crate::Problem;
use crate::table::{Reader, Texts};
use crate::{Misfit, Table};

#[cfg(any(test, feature = "build"))]
pub(crate) use context::KindContext;
#[cfg(any(test, feature = "build"))]
pub(crate) use executor::ExecutorDefinition;
pub use http::{HttpTable, check_agent_url, check_path};
pub use model::{DEV_MODEL, ModelLimits, ModelSettings, Price, Provider};
pub use name::check_kind;
#[cfg(any(test, feature = "build"))]
pub(crate) use offer::ToolOffer;
pub use remote::RemoteTable;
pub use script::ScriptTable;
pub use tools::ToolsTable;

/// The table of a kind, `[executor.<kind>]`, in the form that its executor takes.
pub(crate) trait KindTable: Sized {
    /// Its keys.
    const KEYS: &'static [&'static str];

    /// Reads the table; what is wrong with it collects in `keys`, and its default stands in its place.
    fn read(keys: &mut Reader<'_>) -> Self;
}

/// What the build makes of the table of a kind. Keys are those below the table.
#[cfg(any(test, feature = "build"))]
pub(crate) trait Kind: fmt::Debug {
    /// What is wrong with the table of such an agent that its reader cannot know, each with its key and the fix.
    fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem>;

    /// The texts in which `${NAME}` stands for a secret or a variable, each with its key.
    fn filled_in(&self) -> Vec<(String, &str)> {
        Vec::new()
    }

    /// The tools that the executor calls; `None` for a kind that calls none.
    fn offer(&self) -> Option<ToolOffer<'_>> {
        None
    }

    /// The remote agents that the table names, each with its key.
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

    /// The keys that name files, which the build reads.
    fn files(&self) -> &'static [TableFile] {
        &[]
    }
}

/// A key of a table that names a file, relative to the file of its agent. The build puts the content of the file in its place.
#[cfg(any(test, feature = "build"))]
pub(crate) struct TableFile {
    /// The key.
    pub(crate) key: &'static str,
    /// The key that the content gets.
    pub(crate) content_key: &'static str,
    /// Whether the content is JSON, and not a text.
    pub(crate) is_json: bool,
}

/// The list of kinds, handed to the macro `$make`.
macro_rules! kinds {
    ($make:ident) => {
        $make! {
            /// Calls tools.
            Tools = "tools", ToolsTable;
            /// Follows fixed rules, for tests and demonstrations.
            Script = "script", ScriptTable;
            /// Passes everything on to an agent elsewhere.
            Remote = "remote", RemoteTable;
            /// Asks an agent in any language by one POST.
            Http = "http", HttpTable;
            /// Asks a language model.
            Model = "model", ModelSettings;
        }
    };
}

#[cfg(any(test, feature = "build"))]
use kinds;

/// Makes the enum of the kinds, and a door to the reader of each table.
macro_rules! kinds_and_doors {
    ($($(#[$about:meta])* $kind:ident = $name:literal, $table:ty;)*) => {
        /// A kind that comes with every Worker.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ExecutorKind {
            $($(#[$about])* $kind,)*
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
        }

        $(impl $table {
            /// Reads the table of an agent that was embedded.
            ///
            /// # Errors
            ///
            /// The first thing that is wrong with it.
            pub fn of(table: &Table) -> Result<Self, Misfit> {
                let read = Reader::read_embedded(table, Texts::Literal, read_table);
                read.map_err(|problem| problem.under(concat!("executor.", $name, ".")).into())
            }
        })*
    };
}

kinds!(kinds_and_doors);

/// Reads the table of a kind.
fn read_table<T: KindTable>(keys: &mut Reader<'_>) -> T {
    keys.only(T::KEYS);
    T::read(keys)
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
