//! The shape of an agent file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::skill::{FileSkill, SkillDefinition, SkillsSource};
use crate::access::Access;
use crate::kind::{ExecutorDefinition, KindContext, KnownTools};
use crate::tool::Tool;
use crate::{
    Accepts, Capabilities, Dialects, HttpToolDefinition, McpTable, QuotaTable, RetentionTable,
};
use a2a::model::AgentProvider;

/// One agent, as `agents/<slug>.toml` describes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentDefinition {
    /// The path of the file, as `agents/demo.toml`. Not part of the file.
    #[serde(skip)]
    pub(crate) file: String,
    /// The name of the file without `.toml`, which has to be a [`Slug`](crate::Slug): the agent answers at `/<slug>`. Not part of the file.
    #[serde(skip)]
    pub(crate) slug: String,
    /// The name for people.
    pub(crate) name: String,
    /// The description of the agent.
    pub(crate) description: String,
    /// The version of the agent itself, as `1.0.0`.
    pub(crate) version: String,
    /// True if the agent also answers at `/`; exactly one agent does.
    #[serde(default)]
    pub(crate) default: bool,
    /// True if the agent is served only where `DEVELOPMENT` is set.
    #[serde(default)]
    pub(crate) development: bool,
    /// The URL of the documentation.
    #[serde(default)]
    pub(crate) documentation_url: Option<String>,
    /// The URL of the picture.
    #[serde(default)]
    pub(crate) icon_url: Option<String>,
    /// The organization that offers the agent.
    #[serde(default)]
    pub(crate) provider: Option<AgentProvider>,
    /// The media types that the agent accepts.
    #[serde(default = "default_modes")]
    pub(crate) input_modes: Vec<String>,
    /// The media types that the parts of messages may have.
    #[serde(default)]
    pub(crate) accepts: Accepts,
    /// The media types of the agent's output.
    #[serde(default = "default_modes")]
    pub(crate) output_modes: Vec<String>,
    /// The optional parts of the protocol that the agent supports.
    #[serde(default)]
    pub(crate) capabilities: Capabilities,
    /// The callers that the agent accepts.
    #[serde(default)]
    pub(crate) access: Access,
    /// The older versions of the protocol that the agent supports.
    #[serde(default)]
    pub(crate) dialects: Dialects,
    /// The tools of the agent for clients of MCP.
    #[serde(default)]
    pub(crate) mcp: McpTable,
    /// How long finished tasks are kept, where that differs from the settings of the deployment.
    #[serde(default)]
    pub(crate) retention: RetentionTable,
    /// What each caller may have at a time. Beyond it, no task begins.
    #[serde(default)]
    pub(crate) quota: QuotaTable,
    /// The executor, which answers messages.
    #[schemars(with = "Map<String, Value>")]
    pub(crate) executor: ExecutorDefinition,
    /// The HTTP tools of this agent alone.
    #[serde(default)]
    pub(crate) tools: Vec<HttpToolDefinition>,
    /// The sources of the skills. Default: the tools, if the agent has any.
    #[serde(default)]
    pub(crate) skills_from: Option<Vec<SkillsSource>>,
    /// Skills in addition to those of the sources, and changes to skills of the sources.
    #[serde(default)]
    pub(crate) skills: Vec<SkillDefinition>,
    /// The skills in the folders of `skills_from`. Not part of the file.
    #[serde(skip)]
    pub(crate) file_skills: Vec<FileSkill>,
    /// True if the Worker may register tools, so that unknown names are checked at its start. Not part of the file.
    #[serde(skip)]
    pub(crate) may_register: bool,
}

impl AgentDefinition {
    /// The context in which the executor is checked. `tools` are the tools that all agents of the folder may name.
    pub(crate) fn context<'a>(&'a self, tools: &'a [&'a dyn Tool]) -> KindContext<'a> {
        KindContext {
            is_development: self.development,
            is_anonymous: self.access.is_anonymous(),
            may_register: self.may_register,
            tools: KnownTools::new(&self.tools, tools),
        }
    }
}

fn default_modes() -> Vec<String> {
    vec!["text/plain".to_owned(), "application/json".to_owned()]
}
