//! Calls to MCP servers from a run.

use std::rc::Rc;

use super::calling::CLOSING_MS;
use super::{ExecutorError, Turn};
use crate::mcp::FoundServer;
use a2a::model::Secret;
use mcp::client::{Client, Settings};

impl Turn {
    /// A client of the MCP server of this name, a table `[mcp.<name>]` of `remotes.toml`. Its secrets and variables are read
    /// now, and kept out of what the run says; requests belong to the trace of the run, and calls say how deep agents have
    /// called each other. Its times are bounded by that of the run.
    ///
    /// What a client does is done again by a run that resumes; see [`step`](Self::step). An agent of kind `tools` offers
    /// the tools of servers without a line of code.
    ///
    /// # Errors
    ///
    /// If there is no server of this name, or a secret or a variable that it needs is not set or does not fit. The text
    /// names it.
    pub fn mcp(&self, name: &str) -> Result<Client, ExecutorError> {
        Ok(self.mcp_server(name)?.client)
    }

    /// As [`mcp`](Self::mcp), with what the file says besides.
    pub(super) fn mcp_server(&self, name: &str) -> Result<FoundServer, ExecutorError> {
        let left_ms = self.time_left_ms();
        let within_ms = left_ms.saturating_sub(CLOSING_MS.min(left_ms / 2)).max(1);
        let bounded = |settings: Settings| Settings {
            timeout_ms: settings.timeout_ms.min(within_ms),
            call_timeout_ms: settings.call_timeout_ms.min(within_ms),
            depth: self.depth().saturating_add(1),
            max_depth: self.run_outside.max_depth(),
            trace: self.run_outside.trace(),
            ..settings
        };
        let redaction = self.redaction.clone();
        let learn = Rc::new(move |token: &Secret| redaction.note("access token", token));
        self.outside.mcp.find(name, self, self.ports(), &bounded, learn).map_err(ExecutorError)
    }
}
