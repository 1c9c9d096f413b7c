//! Follows a task of an MCP server. While the task is new, the run polls from memory; later the run is parked between
//! two polls.

use std::cell::Cell;

use super::asked::Way;
use super::{Answers, End, ServerCall, failure};
use crate::executor::remote::pace;
use crate::executor::{ExecutorError, Wait};
use ::mcp::client::{Client, McpError, TaskHandle, TaskState};

impl ServerCall<'_> {
    /// Follows a task until it ends or asks a question that was not answered yet. If runs are not parked here, this
    /// function cancels the server's task when our task is canceled; for a parked run, the executor cancels the
    /// server's task.
    pub(super) async fn follow(
        &self,
        client: &Client,
        task: TaskHandle,
        answers: &Answers,
    ) -> Result<End, ExecutorError> {
        let end = Box::pin(self.watch(client, &task, answers)).await?;
        if matches!(end, End::Canceled) && self.parked_ms.is_none() {
            let _ = client.cancel_task(&task).await;
        }
        Ok(end)
    }

    async fn watch(
        &self,
        client: &Client,
        task: &TaskHandle,
        answers: &Answers,
    ) -> Result<End, ExecutorError> {
        let turn = self.turn;
        let mut parked_ms = self.parked_ms.and_then(Cell::take);
        let mut told =
            turn.task().and_then(|task| task.status.message).map(|message| message.text());
        let mut silent_ms = 0;
        let mut pause_ms = None;
        loop {
            let (note, poll_ms) = match client.task(task).await {
                Ok(look) => {
                    match look.state {
                        TaskState::Working => {}
                        TaskState::Completed(result) => return Ok(End::Finished(result)),
                        TaskState::Failed(error) => {
                            return Ok(End::Failed(McpError::Rpc { error, status: 200 }));
                        }
                        TaskState::Cancelled => {
                            let reason = "it has canceled the task".to_owned();
                            return Ok(End::Failed(McpError::Unexpected(reason)));
                        }
                        // After an answer, the server may list the answered question for a moment longer.
                        TaskState::Asked(questions) => {
                            let is_new = |key: &String| {
                                !answers.answers.iter().any(|(known, _)| known == key)
                            };
                            if questions.iter().any(|question| is_new(&question.key)) {
                                return Ok(End::Asked(questions, Way::Task(task.clone())));
                            }
                        }
                    }
                    (look.message, look.poll_interval_ms)
                }
                // Polling continues, since the server may be reachable again later. The client can cancel the task.
                Err(error) if error.may_pass() => {
                    let note = format!("{}; it is asked again", failure(&self.tool.server, &error));
                    (Some(note), task.poll_interval_ms)
                }
                Err(error) => return Ok(End::Failed(error)),
            };
            if note.is_some() && note != told && !self.desk.is_taken() {
                if let Err(refused) = self.events.working(note.as_deref()) {
                    return if turn.is_canceled() { Ok(End::Canceled) } else { Err(refused) };
                }
                (told, silent_ms, parked_ms) = (note, 0, None);
            }
            if turn.is_canceled() {
                return Ok(End::Canceled);
            }
            // Half of the run's time is reserved for polls after the run was parked.
            let may_stay = turn.time_left_ms() > turn.timeout_ms / 2 && silent_ms < SILENCE_MS;
            if self.parked_ms.is_none() || (parked_ms.is_none() && may_stay) {
                let next_ms = pace::in_memory(poll_ms, pause_ms);
                turn.sleep(next_ms).await;
                silent_ms += next_ms;
                pause_ms = Some(next_ms);
            } else {
                let next_ms = pace::parked(parked_ms, false).max(poll_ms);
                parked_ms = Some(next_ms);
                turn.wait_until(Wait::for_millis(pace::spread(next_ms, turn.run_outside.random())))
                    .await?;
            }
            if turn.is_canceled() {
                return Ok(End::Canceled);
            }
        }
    }
}

/// After this time without news from the task the run is parked, in milliseconds.
const SILENCE_MS: u64 = 60_000;
