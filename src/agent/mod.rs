//! Agents as their files in `agents/` describe them: what may stand there, whether it holds
//! together, and the card that follows from it.
//!
//! The build script reads, checks and embeds the files with this very code, so a Worker that was
//! built has only agents that work.

mod card;
mod check;
mod definition;
mod embedded;
#[cfg(test)]
mod file;
pub mod script;

pub use card::{ORIGIN, capabilities_of, card_of};
pub use check::{Problem, check_all, is_valid_slug};
pub use definition::{
    AgentDefinition, Capabilities, ExecutorDefinition, ExecutorKind, RecoveryMode, RunSettings,
    SkillDefinition,
};
pub use embedded::{Embedded, EmbeddedAgent};
