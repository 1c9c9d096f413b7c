//! The tools of an agent for clients of MCP: the table `[mcp]` of its file.

use serde::Serialize;

use a2a::model::decode::Decode;

/// The tools of an agent for clients of MCP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct McpTable {
    /// The tools that represent the agent.
    pub tools: McpTools,
}

/// The tools of MCP that represent an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum McpTools {
    /// One tool, which accepts any message.
    #[default]
    Agent,
    /// One tool for each of its skills.
    Skills,
    /// None: clients of MCP do not see the agent.
    None,
}

impl McpTable {
    /// True if the agent file has no table `[mcp]`.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
