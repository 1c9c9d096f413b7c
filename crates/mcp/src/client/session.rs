//! Sessions with servers of 2025-11-25 and before: a connection begins with `initialize`.

use std::cell::Cell;

use super::McpError;
use super::wire::Sending;
use crate::model::Revision;

/// The agreement with a legacy server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) revision: Revision,
    /// The id; `None` if the server has no sessions.
    pub(super) id: Option<String>,
    /// True if the server has reported that it has no separate stream.
    pub(super) is_mute: Cell<bool>,
}

impl Session {
    /// Adds the session to a request.
    pub(super) fn within(&self, mut sending: Sending) -> Sending {
        self.put_headers(&mut sending);
        sending
    }

    /// Adds the headers of the session to a request.
    pub(super) fn put_headers(&self, sending: &mut Sending) {
        sending.header("MCP-Protocol-Version", self.revision.as_str());
        if let Some(id) = &self.id {
            sending.header("Mcp-Session-Id", id);
        }
    }

    /// True if the server may have a stream in addition to its answers. A server without sessions cannot know to
    /// which client the stream belongs.
    pub(super) fn may_have_stream(&self) -> bool {
        self.id.is_some() && !self.is_mute.get()
    }

    /// Records that the server has no separate stream.
    pub(super) fn has_no_stream(&self) {
        self.is_mute.set(true);
    }

    /// True if this error means that the server no longer knows the session: in this case it has not processed the
    /// request.
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
