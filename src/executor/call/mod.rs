//! One durable call of a tool, for every executor: a tool of this Worker ([`own`]) or a tool of an MCP server
//! ([`mcp`]). Executors choose the calls and interpret the outcomes; this module does not depend on any executor.

pub(super) mod desk;
pub(super) mod mcp;
mod own;
pub(super) mod question;

use super::Turn;
use a2a::model::{Part, PartContent};
pub(super) use own::{CallInTurn, OwnedCall};

/// True if a part of a question is sent to this client: text always, data (which only repeats the text) if the client
/// accepts JSON.
pub(in crate::executor) fn is_for(part: &Part, turn: &Turn) -> bool {
    part.as_text().is_some() || turn.accepts("application/json")
}

/// A part in a form that the client accepts: data becomes JSON text for a client that accepts text but no JSON.
pub(in crate::executor) fn shown(part: Part, turn: &Turn) -> Part {
    let takes_text_alone = || turn.accepts("text/plain") && !turn.accepts("application/json");
    match &part.content {
        PartContent::Data(data) if takes_text_alone() => {
            Part { content: PartContent::Text(data.as_str().to_owned().into()), ..part }
        }
        _ => part,
    }
}
