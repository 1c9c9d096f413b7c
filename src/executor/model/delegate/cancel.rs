//! Cancels the delegated tasks that are still open when our task has ended.

use futures_util::future::{LocalBoxFuture, select};

use super::super::super::Turn;
use super::super::super::calling::CANCEL_MS;
use super::call::sending;
use super::ledger::{Entry, Ledger, Unsure};
use crate::port::join_all;
use a2a::model::{CancelTaskRequest, TaskId};

/// Cancels all delegated tasks that are running or waiting for an answer, within a few seconds. If only the message of a delegation is
/// known, the task that it may have begun is searched for.
pub(in crate::executor::model) async fn cancel_left(turn: &Turn) {
    select(Box::pin(cancel_all(turn)), turn.run_outside.sleep(CANCEL_MS)).await;
}

async fn cancel_all(turn: &Turn) {
    let Ok(steps) = turn.run_task.steps() else { return };
    let Ledger { tasks, unsure, .. } = Ledger::of(&steps);
    let open = tasks.into_iter().filter(|task| task.is_open);
    let known = open.map(|task| -> LocalBoxFuture<'_, ()> {
        Box::pin(async move { cancel(turn, &task).await })
    });
    let unsure = unsure.iter().map(|call| -> LocalBoxFuture<'_, ()> { Box::pin(look(turn, call)) });
    join_all(known.chain(unsure)).await;
}

async fn cancel(turn: &Turn, task: &Entry) {
    // An agent that was removed from the settings cannot be called, so its task cannot be canceled.
    let Ok(client) = turn.remote(&task.agent) else { return };
    let _ = task.link.reach(client).cancel(request(task.link.task.clone())).await;
}

async fn look(turn: &Turn, call: &Unsure) {
    let Ok(client) = turn.remote(&call.agent) else { return };
    let sending = sending(turn, &call.agent, &call.key, "", None, true);
    if let Some(task) = sending.found(&client).await.filter(|task| !task.status.state.is_terminal())
    {
        let _ = client.cancel(request(task.id)).await;
    }
}

fn request(id: TaskId) -> CancelTaskRequest {
    CancelTaskRequest { tenant: None, id, metadata: None }
}
