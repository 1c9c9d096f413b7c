//! The kind `tools`: an agent that calls tools.

use super::KindTable;
#[cfg(any(test, feature = "checker"))]
use super::{Kind, KindContext, ToolOffer};
#[cfg(any(test, feature = "checker"))]
use crate::Problem;
use crate::table::{Keys, Reader, keys};
#[cfg(any(test, feature = "checker"))]
use crate::tool::Tool;

/// `[executor.tools]`; may be omitted if the agent file contains `[[tools]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolsTable {
    /// The names of tools. In the list of all tools they precede those of the agent's own file that are not named here. A message
    /// that is plain text calls the first tool that accepts text: see [`text_argument`](crate::tool::text_argument).
    pub names: Vec<String>,
    /// True if the agent requests missing and invalid arguments from the client; otherwise the task fails.
    pub ask_missing: bool,
    /// The MCP servers of `remotes.toml` whose tools are also offered: all tools, as `files`, or those that match a
    /// pattern with `*`, as `github:search_*`.
    pub mcp: Vec<String>,
}

impl KindTable for ToolsTable {
    const KEYS: &'static Keys = &keys! {
        /// The names of tools: those in Rust, and those of `tools/*.toml`.
        "names",
        /// True if the agent asks for arguments that are missing or do not fit; otherwise the task fails.
        "ask_missing",
        /// The MCP servers of `remotes.toml` whose tools are also offered. A name alone, as `files`, offers all tools of the server; a
        /// name with a pattern, as `github:search_*`, the tools that match the pattern.
        "mcp",
    };

    fn read(keys: &mut Reader<'_>) -> Self {
        Self {
            names: keys.texts("names"),
            ask_missing: keys.flag("ask_missing").unwrap_or_default(),
            mcp: keys.texts("mcp"),
        }
    }
}

#[cfg(any(test, feature = "checker"))]
impl Kind for ToolsTable {
    fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        if !self.names.is_empty() || !agent.tools.own.is_empty() || !self.mcp.is_empty() {
            return Vec::new();
        }
        let listed = agent.tools.all().map(Tool::name).collect::<Vec<_>>().join(", ");
        let fix = if listed.is_empty() {
            "needs at least one tool: describe one in [[tools]], or in a file of tools/".to_owned()
        } else {
            format!("needs at least one tool; there are: {listed}")
        };
        vec![Problem::at("names", fix)]
    }

    fn offer(&self) -> Option<ToolOffer<'_>> {
        Some(ToolOffer { key: "names", names: &self.names, mcp: &self.mcp, are_skills: true })
    }

    fn resumes_because(&self) -> Option<&'static str> {
        (!self.mcp.is_empty()).then_some(
            "whether a call of an MCP server is repeated after a crash is said by `trust_hints` of the server",
        )
    }
}
