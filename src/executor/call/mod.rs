//! One durable call that a run makes, for every executor: of a tool of this Worker ([`own`]), or of a tool of an MCP
//! server ([`mcp`]). Executors choose calls and interpret their outcomes; a call knows nothing of them.

pub(super) mod desk;
pub(super) mod mcp;
mod own;
pub(super) mod question;

use super::Turn;
use a2a::model::{Part, PartContent};
pub(super) use own::CallInTurn;

/// Whether the client can take a part that only repeats as data what a text says.
pub(in crate::executor) fn is_for(part: &Part, turn: &Turn) -> bool {
    part.as_text().is_some() || turn.accepts("application/json")
}

/// A part as the client can take it: data as JSON text for a client that takes text but no JSON.
pub(in crate::executor) fn shown(part: Part, turn: &Turn) -> Part {
    let takes_text_alone = || turn.accepts("text/plain") && !turn.accepts("application/json");
    match &part.content {
        PartContent::Data(data) if takes_text_alone() => {
            Part { content: PartContent::Text(data.as_str().to_owned().into()), ..part }
        }
        _ => part,
    }
}
