//! Agent files: how they are read, whether they hold together, and what is embedded of them.
//!
//! Only build scripts have this folder (feature `build`). The Worker reads its result, [`Embedded`](crate::Embedded), and nothing outside of
//! this folder uses it.

mod agent;
mod card;
mod check;
mod definition;
pub mod embed;
mod file;
mod remotes;
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
