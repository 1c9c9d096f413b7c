//! The kind `tools`: an agent that calls functions.

use super::KindTable;
#[cfg(any(test, feature = "build"))]
use super::{Kind, KindContext, ToolOffer};
#[cfg(any(test, feature = "build"))]
use crate::Problem;
use crate::table::Reader;

/// `[executor.tools]`; may be absent where the agent has `[[tools]]` of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolsTable {
    /// The names of tools. The agent's own follow, as far as they are not named; the first of all gets messages that
    /// name none.
    pub names: Vec<String>,
    /// Whether arguments that are missing or do not fit are asked for; else the task fails.
    pub ask_missing: bool,
    /// MCP servers of `remotes.toml` whose tools are offered too, as `files`, or those of their tools that match a pattern
    /// with `*`, as `github:search_*`.
    pub mcp: Vec<String>,
}

impl KindTable for ToolsTable {
    const KEYS: &'static [&'static str] = &["names", "ask_missing", "mcp"];

    fn read(keys: &mut Reader<'_>) -> Self {
        Self {
            names: keys.texts("names"),
            ask_missing: keys.flag("ask_missing").unwrap_or_default(),
            mcp: keys.texts("mcp"),
        }
    }
}

#[cfg(any(test, feature = "build"))]
impl Kind for ToolsTable {
    fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        if !self.names.is_empty() || !agent.own.is_empty() || !self.mcp.is_empty() {
            return Vec::new();
        }
        let listed = agent.tools().into_iter().map(|tool| tool.name());
        let listed = listed.collect::<Vec<_>>().join(", ");
        vec![Problem::at("names", format!("needs at least one tool; there are: {listed}"))]
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
