//! Cancels the task of an MCP server that a run does not follow any more.

use super::PLAN;
use super::plan::{Plan, Planned};
use crate::executor::Turn;
use ::mcp::client::TaskHandle;

/// Cancels the task of a server that a run has left, because the run was parked or had no time to cancel it.
pub(super) async fn cancel_left(turn: &Turn) {
    let Ok(Some(plan)) = turn.last_kept::<Plan>(PLAN) else { return };
    // Only the last call with a stored task can be open; the calls before it are done.
    for (index, call) in plan.calls.iter().enumerate().rev() {
        let Planned::Mcp { server, .. } = call else { continue };
        let kept = turn.last_kept::<TaskHandle>(&format!("{}/task", index + 1));
        let Ok(Some(task)) = kept else { continue };
        if let Ok(client) = turn.mcp(server) {
            let _ = client.cancel_task(&task).await;
        }
        return;
    }
}
