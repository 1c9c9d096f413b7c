//! The shape of an agent file.

use serde::Deserialize;

use super::skill::{FileSkill, SkillDefinition, SkillsSource};
use crate::access::Access;
use crate::kind::{ExecutorDefinition, KindContext};
use crate::tool::Tool;
use crate::{Accepts, Capabilities, Dialects, HttpToolDefinition, McpTable};
use a2a::model::AgentProvider;

/// One agent, as `agents/<slug>.toml` describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentDefinition {
    /// Its file, as `agents/demo.toml`. Not part of the file.
    #[serde(skip)]
    pub(crate) file: String,
    /// The name of the file without `.toml`, which has to be a [`Slug`](crate::Slug): the agent answers at `/<slug>`. Not part of the file.
    #[serde(skip)]
    pub(crate) slug: String,
    /// A name for people.
    pub(crate) name: String,
    /// What the agent does.
    pub(crate) description: String,
    /// The version of the agent itself, as `1.0.0`.
    pub(crate) version: String,
    /// Whether it answers at `/` too; one agent does.
    #[serde(default)]
    pub(crate) default: bool,
    /// Whether it is served only where `DEVELOPMENT` is set.
    #[serde(default)]
    pub(crate) development: bool,
    /// Where its documentation is.
    #[serde(default)]
    pub(crate) documentation_url: Option<String>,
    /// Where its picture is.
    #[serde(default)]
    pub(crate) icon_url: Option<String>,
    /// Who offers it.
    #[serde(default)]
    pub(crate) provider: Option<AgentProvider>,
    /// Media types that it takes.
    #[serde(default = "default_modes")]
    pub(crate) input_modes: Vec<String>,
    /// Which messages it takes.
    #[serde(default)]
    pub(crate) accepts: Accepts,
    /// Media types that it gives.
    #[serde(default = "default_modes")]
    pub(crate) output_modes: Vec<String>,
    /// The optional parts of the protocol that it supports.
    #[serde(default)]
    pub(crate) capabilities: Capabilities,
    /// Who may call.
    #[serde(default)]
    pub(crate) access: Access,
    /// The older versions of the protocol that it speaks.
    #[serde(default)]
    pub(crate) dialects: Dialects,
    /// What clients of MCP see of it.
    #[serde(default)]
    pub(crate) mcp: McpTable,
    /// What answers.
    pub(crate) executor: ExecutorDefinition,
    /// HTTP tools of its own.
    #[serde(default)]
    pub(crate) tools: Vec<HttpToolDefinition>,
    /// Where its skills come from; unless given, from its tools if it has any.
    #[serde(default)]
    pub(crate) skills_from: Option<Vec<SkillsSource>>,
    /// What it can do besides the skills of those sources, or what differs from them.
    #[serde(default)]
    pub(crate) skills: Vec<SkillDefinition>,
    /// What the folders in `skills_from` hold. Not part of the file.
    #[serde(skip)]
    pub(crate) file_skills: Vec<FileSkill>,
}

impl AgentDefinition {
    /// What a kind of executor sees of it, in a folder whose agents may name these tools.
    pub(crate) fn context<'a>(&'a self, tools: &'a [&'a dyn Tool]) -> KindContext<'a> {
        KindContext::new(self.development, self.access.is_anonymous(), &self.tools, tools)
    }
}

fn default_modes() -> Vec<String> {
    vec!["text/plain".to_owned(), "application/json".to_owned()]
}
