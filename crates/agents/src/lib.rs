//! Agents as their files in `agents/` describe them: what may stand there, whether it holds
//! together, and the card that follows from it.
//!
//! The build script reads, checks and embeds the files with this very code, so a Worker that was
//! built has only agents that work.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they made"))]

// The attributes of tools write paths that begin with `::a2a_edge`.
extern crate self as a2a_edge;

mod accepts;
pub mod access;
mod card;
mod check;
mod definition;
mod dialects;
#[cfg(any(test, feature = "build"))]
pub mod embed;
mod embedded;
#[cfg(any(test, feature = "build"))]
mod file;
mod http_tool;
mod kind;
mod learned;
mod mcp;
mod problem;
mod remote;
mod restricted;
pub mod script;
#[cfg(any(test, feature = "build"))]
mod skill_file;
mod skills;
mod slug;
mod table;
mod template;
pub mod tool;
mod value;

// What tools need has the same paths in `a2a_edge`: there, a Worker compiles them.
pub use ::{async_trait, serde, serde_json};
pub use a2a::{client, http, model};
pub use a2a_macros::settings;

pub use accepts::Accepts;
pub use card::{capabilities_of, card_of, expand_card, extended_card};
pub use check::check_all;
pub use definition::{AgentDefinition, Capabilities, Recovery, RunSettings, SkillDefinition};
pub use dialects::{Dialects, FileBytes, Legacy, LegacyHistory, V0_3};
pub use embedded::{Embedded, EmbeddedAgent, EmbeddedExecutor, ExecutorPlace, Need};
#[cfg(any(test, feature = "build"))]
pub use file::parse;
pub use http_tool::{HttpTool, HttpToolDefinition, Method, forms_of_secret};
pub use kind::{
    DEV_MODEL, Executor, ExecutorDefinition, ExecutorKind, HttpTable, ModelLimits, ModelSettings,
    ModelTable, Price, Provider, RegisteredTable, RemoteTable, ScriptTable, ToolsTable,
    check_agent_url, check_kind, check_path,
};
pub use learned::{
    LearnedPart, LearnedSkills, LearnedSource, MAX_LEARNED, MAX_LEARNED_BYTES, MAX_TEXT_BYTES,
    OwnSkill, ShownSkills, skills_of_card, take_over, take_over_card,
};
pub use mcp::{McpTable, McpTools};
pub use problem::Problem;
pub use remote::{
    KeyPlace, McpChoice, McpServer, McpSettings, Remote, RemoteCredentials, RemoteKey,
    RemoteMisfit, RemoteOAuth2, RemoteSettings, matches_pattern,
};
pub use restricted::RestrictedSkill;
pub use skills::{FileSkill, SkillsSource};
pub use slug::check_slug;
pub use table::{Misfit, Table, no_such};
pub use template::Expandable;
pub use value::{NotSet, Values, is_value_name};
