//! Sessions of servers of 2025-11-25 and before: a connection begins with `initialize`.

use std::cell::Cell;

use super::McpError;
use super::wire::Sending;
use crate::model::Revision;

/// What a legacy server was agreed with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) revision: Revision,
    /// The id, of a server that has sessions.
    pub(super) id: Option<String>,
    /// Whether the server has reported that it has no stream apart from its answers.
    pub(super) is_mute: Cell<bool>,
}

impl Session {
    /// A request within the session.
    pub(super) fn within(&self, mut sending: Sending) -> Sending {
        self.put_headers(&mut sending);
        sending
    }

    /// Puts the headers of a request within the session.
    pub(super) fn put_headers(&self, sending: &mut Sending) {
        sending.header("MCP-Protocol-Version", self.revision.as_str());
        if let Some(id) = &self.id {
            sending.header("Mcp-Session-Id", id);
        }
    }

    /// Whether the server may have a stream besides its answers. One without sessions could not tell whose it is.
    pub(super) fn may_have_stream(&self) -> bool {
        self.id.is_some() && !self.is_mute.get()
    }

    /// The server has no such stream.
    pub(super) fn has_no_stream(&self) {
        self.is_mute.set(true);
    }

    /// Whether the server says by this error that it has the session no more: it has not looked at the request then.
    pub(super) fn is_lost(&self, error: &McpError) -> bool {
        let (status, text) = match error {
            McpError::Status { status, begins, .. } => (*status, begins),
            McpError::Rpc { status, error } => (*status, &error.message),
            _ => return false,
        };
        let text = text.to_ascii_lowercase();
        let names_it = text.contains("session") || text.contains("not initialized");
        self.id.is_some() && (status == 404 || (status == 400 && names_it))
    }
}
