//! Reads agent files, checks them, and makes the checked form.
//!
//! Only the crate `a2a-edge-checker` contains this folder (feature `checker`). The Worker reads [`Checked`](crate::Checked), which this
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
