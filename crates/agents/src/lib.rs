//! Agents: their files in `agents/`, the checked form of them, and their tools.
//!
//! `checker/` (feature `checker`) reads the files, checks them, and makes the checked form: a [`Checked`]. The Worker reads that
//! form and contains no code of `checker/`. The tables of executors and remotes are in it as they are written; the checker and
//! the Worker read them with the same code.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they made"))]

// The attributes of tools generate paths that begin with `::a2a_edge`.
extern crate self as a2a_edge;

mod accepts;
pub mod access;
mod capabilities;
mod card;
mod checked;
#[cfg(any(test, feature = "checker"))]
mod checker;
mod dialects;
#[cfg(any(test, feature = "checker"))]
pub mod files;
mod http_tool;
mod join;
mod kind;
mod learned;
mod mcp;
mod need;
mod problem;
mod quota;
mod remote;
mod restricted;
mod retention;
mod run;
pub mod script;
mod service;
mod slug;
mod table;
mod template;
pub mod tool;
mod value;

// The names that tools use have the same paths in `a2a_edge`: a Worker compiles its tools with that crate.
pub use ::{async_trait, serde, serde_json};
pub use a2a::{client, http, model};
pub use a2a_macros::settings;

pub use accepts::Accepts;
pub use capabilities::Capabilities;
pub use card::{expand_card, extended_card};
pub use checked::{
    AgentSource, AgentTexts, Checked, CheckedAgent, CheckedExecutor, ExecutorPlace, Index,
    IndexedAgent, VERSION,
};
#[cfg(any(test, feature = "checker"))]
pub use checker::{project, schema};
pub use dialects::{Dialects, FileBytes, Legacy, LegacyHistory, V0_3};
pub use http_tool::{HttpTool, HttpToolDefinition, Method, forms_of_secret};
pub use kind::{
    DEV_MODEL, ExecutorKind, HttpTable, ModelLimits, ModelSettings, Price, Provider, RemoteTable,
    ScriptTable, ToolsTable, check_agent_url, check_kind,
};
pub use learned::{
    LearnedPart, LearnedSkills, LearnedSource, MAX_LEARNED, MAX_LEARNED_BYTES, MAX_TEXT_BYTES,
    OwnSkill, RegisteredSkill, ShownSkills, skills_of_card, take_over, take_over_card,
};
pub use mcp::{McpTable, McpTools};
pub use need::Need;
pub use problem::Problem;
pub use quota::QuotaTable;
pub use remote::{
    KeyPlace, McpChoice, McpServer, McpSettings, Remote, RemoteCredentials, RemoteKey,
    RemoteMisfit, RemoteOAuth2, RemoteSettings, matches_pattern,
};
pub use restricted::RestrictedSkill;
pub use retention::{MAX_FINISHED, MAX_RETENTION_MS, RetentionTable};
pub use run::{Recovery, RunSettings, Trace};
pub use service::{check_path, http_of, service_name, service_url, unbound_service};
pub use slug::Slug;
pub use table::{Misfit, Table, no_such};
pub use template::Expandable;
pub use value::{NotSet, Values, is_value_name};
