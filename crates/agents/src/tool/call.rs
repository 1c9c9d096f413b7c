//! The call of a tool: its caller, and the functions that the tool may use meanwhile.

use std::any::Any;
use std::rc::Rc;

use async_trait::async_trait;
use futures_util::future::LocalBoxFuture;

use super::ToolError;
use a2a::client::Client;
use a2a::http::{Http, HttpAnswer, HttpRequest};
use a2a::model::{Json, Message, Secret, UnixMillis};

/// A call of a tool. Durable steps are methods of `dyn ToolCall`: [`step`](trait.ToolCall.html#method.step) and
/// [`step_with`](trait.ToolCall.html#method.step_with).
pub trait ToolCall {
    /// The call in the form of its host, for tools of the host whose code outlives the borrow of the call. `None` where there is no
    /// such form.
    fn hosted(&self) -> Option<Rc<dyn Any>> {
        None
    }

    /// The current instant. It advances only while the tool waits.
    fn now(&self) -> UnixMillis;

    /// The id of the caller.
    fn caller_id(&self) -> &str;

    /// The owner of the task: the caller, or the group with which the caller shares its tasks. Data that a tool stores
    /// for the caller belongs to the owner.
    fn owner(&self) -> &str {
        self.caller_id()
    }

    /// The caller's permissions.
    fn permissions(&self) -> &[String];

    /// The id of the task that contains the call.
    fn task_id(&self) -> &str;

    /// A text for the header `Idempotency-Key`. It is the same in every attempt of this call, also after a crash, and
    /// differs from the key of any other call, in the same message or in another one. The id of the task cannot be
    /// derived from it.
    fn idempotency_key(&self) -> String;

    /// The messages of the task, oldest first, including the message that requests this call.
    fn history(&self) -> Vec<Message>;

    /// Numbers that remain stored after the call.
    fn counters(&self) -> &dyn Counters;

    /// Shows the caller the progress of the call.
    ///
    /// # Errors
    ///
    /// If the caller has canceled the call, so that the result is not needed.
    fn progress(&self, text: &str) -> Result<(), ToolError>;

    /// True if the caller has canceled the call. Its result is then discarded.
    fn is_canceled(&self) -> bool;

    /// Waits until the caller cancels the call. Only tools that must react to a cancellation need this: other calls are
    /// dropped after a short delay.
    fn canceled(&self) -> LocalBoxFuture<'_, ()>;

    /// Waits for `millis` milliseconds, or until the caller cancels the call.
    fn sleep(&self, millis: u64) -> LocalBoxFuture<'_, ()>;

    /// Sends a request to another server, and reads the whole response as text within the request's `timeout_ms`.
    ///
    /// # Errors
    ///
    /// [`ToolError::Upstream`] if the response is missing, late or too large. A response with an error status is not an
    /// error.
    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'_, Result<HttpAnswer<String>, ToolError>>;

    /// The HTTP client, for responses that are read piece by piece.
    fn http(&self) -> &dyn Http;

    /// The client for another Worker, by the name of its service binding. All requests of this client reach that Worker, independent
    /// of their URLs. If the binding is missing, each request fails with an error that names it.
    fn service(&self, name: &str) -> Rc<dyn Http>;

    /// A client of the agent with this name: a remote of `remotes.toml`, otherwise an agent of this Worker.
    ///
    /// # Errors
    ///
    /// [`ToolError::Tool`] if no agent has this name, or if a secret or a variable of the remote is not set. The text
    /// contains the name.
    fn remote(&self, name: &str) -> Result<Client, ToolError> {
        Err(ToolError::Tool(format!("there is no remote {name:?}; there are: none")))
    }

    /// The current value of a secret of the deployment. If the secret has 8 bytes or more, its name replaces it in the
    /// results, progress and errors of the call that the caller sees.
    ///
    /// # Errors
    ///
    /// [`ToolError::Tool`] if the secret is not set or empty. The text contains its name.
    fn secret(&self, name: &str) -> Result<Secret, ToolError>;

    /// The current value of a variable of the deployment. It is not a secret: callers may see it.
    ///
    /// # Errors
    ///
    /// [`ToolError::Tool`] if the variable is not set or empty. The text contains its name.
    fn var(&self, name: &str) -> Result<String, ToolError>;

    /// The secret with this name or, if there is none, the variable.
    ///
    /// # Errors
    ///
    /// [`ToolError::Tool`] if neither is set. The text contains the name.
    fn value(&self, name: &str) -> Result<Secret, ToolError>;

    /// Begins a step, or returns its stored result. Use [`step`](trait.ToolCall.html#method.step).
    ///
    /// # Errors
    ///
    /// If the call may not have this step.
    fn begin_step(&self, name: &str) -> Result<StepStart, ToolError>;

    /// Stores the result of a step. Use [`step`](trait.ToolCall.html#method.step).
    ///
    /// # Errors
    ///
    /// If the result cannot be stored.
    fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ToolError>;
}

/// Stored numbers, each with an owner and a name.
#[async_trait(?Send)]
pub trait Counters {
    /// Adds one and returns the new value; the first is 1. A value is never returned twice.
    ///
    /// # Errors
    ///
    /// A text for the log when the storage cannot be reached.
    async fn increment(&self, owner: &str, name: &str) -> Result<u64, String>;
}

/// The state of a step at its beginning.
#[derive(Clone, Debug, PartialEq)]
pub enum StepStart<T = Json> {
    /// The step must be performed. The number counts the steps with the same name in this call.
    New(u32),
    /// The step has this stored result.
    Done(Result<T, String>),
}
