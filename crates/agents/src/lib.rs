//! Agents as their files in `agents/` describe them: what may stand there, whether it holds
//! together, and the card that follows from it.
//!
//! The build script reads, checks and embeds the files with this very code, so a Worker that was
//! built has only agents that work.

mod card;
mod check;
mod definition;
#[cfg(any(test, feature = "build"))]
pub mod embed;
mod embedded;
#[cfg(any(test, feature = "build"))]
mod file;
pub mod script;
pub mod tool;

pub use card::{capabilities_of, card_of};
pub use check::{Problem, check_all, is_valid_slug};
pub use definition::{
    AgentDefinition, Capabilities, ExecutorDefinition, ExecutorKind, RecoveryMode, RunSettings,
    SkillDefinition,
};
pub use embedded::{Embedded, EmbeddedAgent};
#[cfg(any(test, feature = "build"))]
pub use file::parse;
