//! The shape of an agent file.

use serde::{Deserialize, Serialize};

use crate::accepts::Accepts;
use crate::access::Access;
use crate::dialects::Dialects;
use crate::kind::ExecutorDefinition;
use crate::{FileSkill, HttpTool, HttpToolDefinition, McpTable, SkillsSource};
use a2a::model::{AgentCapabilities, AgentExtension, AgentProvider};

/// One agent, as `agents/<slug>.toml` describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentDefinition {
    /// Its file, as `agents/demo.toml`. Not part of the file.
    #[serde(skip)]
    pub file: String,
    /// The name of the file without `.toml`: the agent answers at `/<slug>`. Not part of the file.
    #[serde(skip)]
    pub slug: String,
    /// A name for people.
    pub name: String,
    /// What the agent does.
    pub description: String,
    /// The version of the agent itself, as `1.0.0`.
    pub version: String,
    /// Whether it answers at `/` too; one agent does.
    #[serde(default)]
    pub default: bool,
    /// Whether it is served only where `DEVELOPMENT` is set.
    #[serde(default)]
    pub development: bool,
    /// Where its documentation is.
    #[serde(default)]
    pub documentation_url: Option<String>,
    /// Where its picture is.
    #[serde(default)]
    pub icon_url: Option<String>,
    /// Who offers it.
    #[serde(default)]
    pub provider: Option<AgentProvider>,
    /// Media types that it takes.
    #[serde(default = "default_modes")]
    pub input_modes: Vec<String>,
    /// Which messages it takes.
    #[serde(default)]
    pub accepts: Accepts,
    /// Media types that it gives.
    #[serde(default = "default_modes")]
    pub output_modes: Vec<String>,
    /// The optional parts of the protocol that it supports.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// Who may call.
    #[serde(default)]
    pub access: Access,
    /// The older versions of the protocol that it speaks.
    #[serde(default)]
    pub dialects: Dialects,
    /// What clients of MCP see of it.
    #[serde(default)]
    pub mcp: McpTable,
    /// What answers.
    pub executor: ExecutorDefinition,
    /// HTTP tools of its own.
    #[serde(default)]
    pub tools: Vec<HttpToolDefinition>,
    /// Where its skills come from; unless given, from its tools if it has any.
    #[serde(default)]
    pub skills_from: Option<Vec<SkillsSource>>,
    /// What it can do besides the skills of those sources, or what differs from them.
    #[serde(default)]
    pub skills: Vec<SkillDefinition>,
    /// What the folders in `skills_from` hold. Not part of the file.
    #[serde(skip)]
    pub file_skills: Vec<FileSkill>,
}

impl AgentDefinition {
    /// Its own HTTP tools, as far as they hold together.
    pub(crate) fn own_tools(&self) -> Vec<HttpTool> {
        self.tools.iter().filter_map(|tool| HttpTool::new(tool).ok()).collect()
    }
}

/// The optional parts of the protocol (spec §4.4.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// SendStreamingMessage and SubscribeToTask; offered unless the file says `false`.
    #[serde(default = "yes")]
    pub streaming: bool,
    /// Webhooks.
    #[serde(default)]
    pub push_notifications: bool,
    /// GetExtendedAgentCard.
    #[serde(default)]
    pub extended_agent_card: bool,
    /// Whether cards for older clients say that the history of a task has its statuses. A2A 1.0 has no word for that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub state_transition_history: bool,
    /// Extensions that the agent knows.
    #[serde(default)]
    pub extensions: Vec<AgentExtension>,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            streaming: true,
            push_notifications: false,
            extended_agent_card: false,
            state_transition_history: false,
            extensions: Vec::new(),
        }
    }
}

impl From<Capabilities> for AgentCapabilities {
    fn from(capabilities: Capabilities) -> Self {
        let Capabilities { streaming, push_notifications, extended_agent_card, extensions, .. } =
            capabilities;
        Self { streaming, push_notifications, extensions, extended_agent_card }
    }
}

/// How an agent's runs are bounded, and what becomes of interrupted ones: the table `[executor.run]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// What is to be done when a run was interrupted; unless given, what the kind of executor says.
    pub recovery: Option<Recovery>,
    /// How often a run is begun at most; `MAX_ATTEMPTS` unless given.
    pub max_attempts: Option<u32>,
    /// How long a run may take, all attempts together, in milliseconds; `RUN_TIMEOUT_MS` unless given.
    pub timeout_ms: Option<u64>,
    /// How long a run may do nothing that shows, in milliseconds; 0 for as long as it may take,
    /// `IDLE_TIMEOUT_MS` unless given.
    pub idle_timeout_ms: Option<u64>,
}

/// What is to be done when a run was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Run again; steps that are done give what they gave, what was said is not said again.
    Resume,
    /// Run again from the start, which knows that it is another attempt.
    Restart,
    /// Fail the task.
    Fail,
}

/// A skill of an agent (spec §4.4.5).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillDefinition {
    /// Unique within the agent; for a tool, its name.
    pub id: String,
    /// A name for people.
    #[serde(default)]
    pub name: Option<String>,
    /// What it does.
    #[serde(default)]
    pub description: Option<String>,
    /// Key words.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What one may ask.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Media types that it takes, if other than the agent's.
    #[serde(default)]
    pub input_modes: Vec<String>,
    /// Media types that it gives, if other than the agent's.
    #[serde(default)]
    pub output_modes: Vec<String>,
    /// The permissions that a caller needs, all of them. For others the skill does not exist.
    #[serde(default)]
    pub permissions: Vec<String>,
}

fn yes() -> bool {
    true
}

fn default_modes() -> Vec<String> {
    vec!["text/plain".to_owned(), "application/json".to_owned()]
}
