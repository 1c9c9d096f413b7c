//! Reads agent files, checks them, and makes the data that is embedded.
//!
//! Only build scripts contain this folder (feature `build`). The Worker reads [`Embedded`](crate::Embedded), which this
//! folder makes; no module outside of this folder uses the folder.

mod agent;
mod card;
mod check;
mod definition;
mod file;
pub mod project;
mod remotes;
pub mod schema;
mod skill;
mod skill_file;
pub(crate) mod skills;
mod source;

#[cfg(test)]
pub(crate) use check::check_all;
#[cfg(test)]
pub(crate) use definition::AgentDefinition;
#[cfg(test)]
pub(crate) use skill::FileSkill;
