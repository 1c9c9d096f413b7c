//! Calls to MCP servers from a run.

use std::rc::Rc;

use super::calling::CLOSING_MS;
use super::{ExecutorError, Turn};
use crate::mcp::FoundServer;
use crate::port::Target;
use a2a::model::Secret;
use mcp::client::{Client, Settings};

impl Turn {
    /// A client of the MCP server of this name, a table `[mcp.<name>]` of `remotes.toml`. The server's secrets and variables
    /// are read now, and are replaced by their names in the run's events. The requests of the client belong to the trace of
    /// the run, and contain the depth of the agent-to-agent calls. The timeouts are limited to the run's remaining time.
    ///
    /// A run that resumes repeats the requests of the client; see [`step`](Self::step). An agent of kind `tools` offers
    /// the tools of servers without any code.
    ///
    /// # Errors
    ///
    /// If there is no server of this name, or a secret or a variable that the server needs is not set or has a wrong
    /// form. The error names the missing or wrong value.
    pub fn mcp(&self, name: &str) -> Result<Client, ExecutorError> {
        Ok(self.mcp_server(name)?.client)
    }

    /// Like [`mcp`](Self::mcp), with the other settings of the server's table.
    pub(super) fn mcp_server(&self, name: &str) -> Result<FoundServer, ExecutorError> {
        let left_ms = self.time_left_ms();
        let within_ms = left_ms.saturating_sub(CLOSING_MS.min(left_ms / 2)).max(1);
        let bounded = |settings: Settings| Settings {
            timeout_ms: settings.timeout_ms.min(within_ms),
            call_timeout_ms: settings.call_timeout_ms.min(within_ms),
            depth: self.depth().saturating_add(1),
            max_depth: self.run_outside.max_depth(),
            trace: self.run_outside.timing().trace(),
            ..settings
        };
        let redaction = self.redaction.clone();
        let learn = Rc::new(move |token: &Secret| redaction.note("access token", token));
        let bound = |service: &str| self.run_outside.bound(&Target::Service(service.to_owned()));
        let servers = &self.outside.mcp;
        servers.find(name, self, self.ports(), &bound, &bounded, learn).map_err(ExecutorError)
    }
}
