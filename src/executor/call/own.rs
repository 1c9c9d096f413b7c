//! A call of one of this Worker's tools as part of a turn.

use std::any::Any;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use sha2::{Digest, Sha256};

use super::super::{Events, ExecutorError, Turn};
use super::desk::{Desk, Place};
use crate::port::{Http, HttpAnswer, HttpRequest, Target, Work, WorkEnd};
use a2a::client::Client;
use a2a::model::{Json, Message, Secret, UnixMillis, hex};
use a2a_agents::Values;
use a2a_agents::tool::{Counters, StepStart, Tool, ToolCall, ToolError, ToolOutput, call_checked};
use serde_json::{Map, Value};

/// A tool call within a turn: its progress is reported as progress of the task, and its steps are steps of the run.
pub(in crate::executor) struct CallInTurn<'a> {
    turn: &'a Turn,
    events: &'a Events,
    /// The key of the call in the names of steps: `2`, or `1.2` for the second call of the first round.
    key: String,
    /// The desk of the round; `None` if no other call runs at the same time.
    desk: Option<&'a Desk<'a>>,
}

impl<'a> CallInTurn<'a> {
    /// The call with this key.
    pub(in crate::executor) fn new(turn: &'a Turn, events: &'a Events, key: &str) -> Self {
        Self { turn, events, key: key.to_owned(), desk: None }
    }

    /// The same call, in a round whose calls run at the same time and ask the user through `desk`.
    pub(in crate::executor) fn beside(self, desk: &'a Desk<'a>) -> Self {
        Self { desk: Some(desk), ..self }
    }

    /// Calls a tool of this Worker.
    ///
    /// # Errors
    ///
    /// As for [`call_checked`].
    pub(in crate::executor) async fn of(
        &self,
        tool: &dyn Tool,
        arguments: Map<String, Value>,
    ) -> Result<ToolOutput, ToolError> {
        let (turn, timed) = (self.turn, self.turn.begin_timed("tool", &self.key, 1));
        let called = Box::pin(call_checked(tool, arguments.into(), self));
        let result = turn.within(timed.as_ref(), called).await;
        let failure = result.as_ref().err().map(|error| error.fault().name());
        turn.end_timed(timed, Work::Tool(tool.name()), WorkEnd { failure, usage: None });
        result
    }

    fn own(&self, step: &str) -> String {
        format!("{}/{step}", self.key)
    }
}

/// A [`CallInTurn`] that owns its turn, for a tool whose code outlives the borrow of the call.
#[derive(Clone)]
pub(in crate::executor) struct OwnedCall {
    pub(in crate::executor) turn: Turn,
    pub(in crate::executor) events: Events,
    pub(in crate::executor) key: String,
    place: Option<Place>,
}

impl OwnedCall {
    /// The call itself.
    pub(in crate::executor) fn in_turn(&self) -> CallInTurn<'_> {
        CallInTurn::new(&self.turn, &self.events, &self.key)
    }

    /// True if a call of the same round is asking the user now.
    pub(in crate::executor) fn is_asking(&self) -> bool {
        self.place.as_ref().is_some_and(Place::is_taken)
    }
}

impl ToolCall for CallInTurn<'_> {
    fn hosted(&self) -> Option<Rc<dyn Any>> {
        let (turn, events, key) = (self.turn.clone(), self.events.clone(), self.key.clone());
        Some(Rc::new(OwnedCall { turn, events, key, place: self.desk.map(Desk::shared_place) }))
    }

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
        // Hashed, because a client that has the id of a task can read that task.
        hex(&Sha256::digest(format!("{task}/{number}/{key}")))
    }

    fn history(&self) -> Vec<Message> {
        self.turn.history()
    }

    fn counters(&self) -> &dyn Counters {
        self.turn.run_outside.counters()
    }

    fn progress(&self, text: &str) -> Result<(), ToolError> {
        // While a call asks the user, the task must not change to the state `working`.
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

    fn service(&self, name: &str) -> Rc<dyn Http> {
        self.turn.run_outside.bound(&Target::Service(name.to_owned()))
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
        self.turn.keep_step(&self.own(name), nth, outcome).map_err(refused)
    }
}

/// Converts an error of the turn: the task has ended, a limit is reached, or a value is not set.
fn refused(error: ExecutorError) -> ToolError {
    ToolError::Tool(error.0)
}
