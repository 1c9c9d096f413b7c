//! The call that a tool answers: who makes it, and what the tool may ask of the outside meanwhile.

use async_trait::async_trait;
use futures_util::future::LocalBoxFuture;

use super::ToolError;
use a2a::client::Client;
use a2a::http::{Http, HttpAnswer, HttpRequest};
use a2a::model::{Json, Message, Secret, UnixMillis};

/// A call that a tool answers. Durable steps are methods of `dyn ToolCall`: [`step`](trait.ToolCall.html#method.step)
/// and [`step_with`](trait.ToolCall.html#method.step_with).
pub trait ToolCall {
    /// The present instant. It advances only while waiting.
    fn now(&self) -> UnixMillis;

    /// Who calls.
    fn caller_id(&self) -> &str;

    /// Whose the task is: the caller, or the group with which it shares its tasks. What a tool keeps for the caller
    /// belongs to this.
    fn owner(&self) -> &str {
        self.caller_id()
    }

    /// What the caller may do.
    fn permissions(&self) -> &[String];

    /// The task that the call is part of.
    fn task_id(&self) -> &str;

    /// A text for the header `Idempotency-Key`: the same for every attempt at this call, also after a crash, and
    /// of no other call, neither in the same message nor in another. Nobody can tell the task from it.
    fn idempotency_key(&self) -> String;

    /// What was said in the task so far, oldest first, the message that asks for this call included.
    fn history(&self) -> Vec<Message>;

    /// Numbers that outlive the call.
    fn counters(&self) -> &dyn Counters;

    /// Shows the caller how far the call has come.
    ///
    /// # Errors
    ///
    /// If nobody waits for the result any more, because the caller has canceled the call.
    fn progress(&self, text: &str) -> Result<(), ToolError>;

    /// Whether the caller has canceled the call. Its result does not count then.
    fn is_canceled(&self) -> bool;

    /// Waits until the caller cancels the call. A tool that calls nobody but the outside need not: after a
    /// moment of grace it is dropped.
    fn canceled(&self) -> LocalBoxFuture<'_, ()>;

    /// Waits for `millis` milliseconds, or until the caller cancels the call.
    fn sleep(&self, millis: u64) -> LocalBoxFuture<'_, ()>;

    /// Sends a request to another server, and reads the whole answer as text within the request's
    /// `timeout_ms`.
    ///
    /// # Errors
    ///
    /// [`ToolError::Upstream`] if there is no answer, not in time, or too large a one. An answer of any status is no
    /// error.
    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'_, Result<HttpAnswer<String>, ToolError>>;

    /// Other servers, for answers that are read piece by piece.
    fn http(&self) -> &dyn Http;

    /// A client of the agent of this name: one of `remotes.toml`, else one of this Worker.
    ///
    /// # Errors
    ///
    /// [`ToolError::Tool`] if there is none, or a secret or a variable that it needs is not set. The text names it.
    fn remote(&self, name: &str) -> Result<Client, ToolError> {
        Err(ToolError::Tool(format!("there is no remote {name:?}; there are: none")))
    }

    /// The secret of the deployment that has this name, as it is now. Where its text appears in what the call gives
    /// (results, progress and errors), the caller sees its name instead, if it has 8 bytes or more.
    ///
    /// # Errors
    ///
    /// [`ToolError::Tool`] if it is not set or empty. The text names it.
    fn secret(&self, name: &str) -> Result<Secret, ToolError>;

    /// The variable of the deployment that has this name, as it is now. It is no secret: callers may see it.
    ///
    /// # Errors
    ///
    /// [`ToolError::Tool`] if it is not set or empty. The text names it.
    fn var(&self, name: &str) -> Result<String, ToolError>;

    /// The secret of this name or, if there is none, the variable.
    ///
    /// # Errors
    ///
    /// [`ToolError::Tool`] if neither is set. The text has the name.
    fn value(&self, name: &str) -> Result<Secret, ToolError>;

    /// Begins a step, or gives what it came to before. Use [`step`](trait.ToolCall.html#method.step).
    ///
    /// # Errors
    ///
    /// If the call may have no such step.
    fn begin_step(&self, name: &str) -> Result<StepStart, ToolError>;

    /// Keeps what a step came to. Use [`step`](trait.ToolCall.html#method.step).
    ///
    /// # Errors
    ///
    /// If it cannot be kept.
    fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ToolError>;
}

/// Numbers that survive restarts, each by an owner and a name.
#[async_trait(?Send)]
pub trait Counters {
    /// Adds one and gives the new value; the first is 1. Never gives one value twice.
    ///
    /// # Errors
    ///
    /// A text for the log when the storage cannot be reached.
    async fn increment(&self, owner: &str, name: &str) -> Result<u64, String>;
}

/// What a step begins with.
#[derive(Clone, Debug, PartialEq)]
pub enum StepStart<T = Json> {
    /// It is to be done; which of its name it is.
    New(u32),
    /// It was done.
    Done(Result<T, String>),
}
