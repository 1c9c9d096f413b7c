//! A call of a tool as part of a turn.

use futures_util::future::LocalBoxFuture;
use sha2::{Digest, Sha256};

use super::super::{Events, ExecutorError, Turn};
use super::desk::Desk;
use crate::port::{Http, HttpAnswer, HttpRequest};
use a2a::client::Client;
use a2a::model::{Json, Message, Secret, UnixMillis, hex};
use a2a_agents::Values;
use a2a_agents::tool::{Counters, StepStart, ToolCall, ToolError};

/// A call that is part of a turn: its progress is that of the task, its steps are the run's.
pub(in crate::executor) struct CallInTurn<'a> {
    turn: &'a Turn,
    events: &'a Events,
    /// Which of the calls of its message it is: `2`, or `1.2` for the second one of a first round. What it is known by in steps.
    key: String,
    /// Where other calls of the same time ask the user.
    desk: Option<&'a Desk<'a>>,
}

impl<'a> CallInTurn<'a> {
    /// The call of this key.
    pub(in crate::executor) fn new(turn: &'a Turn, events: &'a Events, key: &str) -> Self {
        Self { turn, events, key: key.to_owned(), desk: None }
    }

    /// The same beside calls that may ask the user.
    pub(in crate::executor) fn beside(self, desk: &'a Desk<'a>) -> Self {
        Self { desk: Some(desk), ..self }
    }

    fn own(&self, step: &str) -> String {
        format!("{}/{step}", self.key)
    }
}

impl ToolCall for CallInTurn<'_> {
    fn now(&self) -> UnixMillis {
        self.turn.now()
    }

    fn caller_id(&self) -> &str {
        &self.turn.caller.id
    }

    fn owner(&self) -> &str {
        self.turn.caller.owner()
    }

    fn permissions(&self) -> &[String] {
        &self.turn.caller.permissions
    }

    fn task_id(&self) -> &str {
        self.turn.task_id.as_str()
    }

    fn idempotency_key(&self) -> String {
        let (task, number, key) = (self.turn.unique_id(), self.turn.number, &self.key);
        // Hashed: the id of a task is all that one needs to read it.
        hex(&Sha256::digest(format!("{task}/{number}/{key}")))
    }

    fn history(&self) -> Vec<Message> {
        self.turn.history()
    }

    fn counters(&self) -> &dyn Counters {
        self.turn.run_outside.counters()
    }

    fn progress(&self, text: &str) -> Result<(), ToolError> {
        // While the user is asked something, the task does not say that it works.
        if self.desk.is_some_and(Desk::is_taken) {
            return Ok(());
        }
        self.events.working(Some(text)).map_err(refused)
    }

    fn is_canceled(&self) -> bool {
        self.turn.is_canceled()
    }

    fn canceled(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.turn.canceled())
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.turn.sleep(millis))
    }

    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'_, Result<HttpAnswer<String>, ToolError>> {
        let upstream = |error: ExecutorError| ToolError::Upstream(error.0);
        Box::pin(async move { self.turn.fetch(request).await.map_err(upstream) })
    }

    fn http(&self) -> &dyn Http {
        self.turn.run_outside.http()
    }

    fn remote(&self, name: &str) -> Result<Client, ToolError> {
        self.turn.remote(name).map_err(refused)
    }

    fn secret(&self, name: &str) -> Result<Secret, ToolError> {
        self.turn.secret(name).map_err(refused)
    }

    fn var(&self, name: &str) -> Result<String, ToolError> {
        self.turn.variable(name).map_err(refused)
    }

    fn value(&self, name: &str) -> Result<Secret, ToolError> {
        self.turn.value(name).map_err(|missing| ToolError::Tool(missing.to_string()))
    }

    fn begin_step(&self, name: &str) -> Result<StepStart, ToolError> {
        self.turn.run_task.begin_step(&self.own(name)).map_err(refused)
    }

    fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ToolError> {
        self.turn.end_step(&self.own(name), nth, outcome).map_err(refused)
    }
}

/// What the turn refuses: the task has ended, a limit is reached, or something is not set.
fn refused(error: ExecutorError) -> ToolError {
    ToolError::Tool(error.0)
}
