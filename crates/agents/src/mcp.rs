//! What clients of MCP see of an agent: the table `[mcp]` of its file.

use serde::{Deserialize, Serialize};

/// What clients of MCP see of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpTable {
    /// Which tools the agent is.
    pub tools: McpTools,
}

/// Which tools of MCP an agent is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpTools {
    /// One tool, which takes any message.
    #[default]
    Agent,
    /// One tool for each of its skills.
    Skills,
    /// None: clients of MCP do not see it.
    None,
}

impl McpTable {
    /// Whether nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
