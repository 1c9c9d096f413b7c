//! The two traits through which a run reaches its task and the services outside of the task.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::{Callback, CallbackTerms, Emission, Timing, Wait, WaitStart};
use crate::auth::Caller;
use crate::executor::ExecutorError;
use crate::mcp::{FoundServer, KnownTools};
use crate::port::{Http, Random, Target};
use crate::task::{CallbackName, StepRecord, Unanswered};
use crate::trail::AskedBy;
use crate::usage::Usage;
use a2a::client::Client;
use a2a::model::{Json, Message, Part, Secret, Task, UnixMillis};
use a2a_agents::tool::{Counters, StepStart};
use mcp::client::McpError;

/// The task of a run, as [`Turn`](super::Turn) and [`Events`](super::Events) reach it: the run's events, steps, waits, callbacks and
/// usage, and the data of the task.
pub trait RunTask {
    /// Applies an event of the executor.
    ///
    /// # Errors
    ///
    /// The reason why the event is refused; a refused event changes nothing.
    fn emit(&self, emission: Emission) -> Result<(), ExecutorError>;

    /// Sets the shortest interval, after a burst, at which events of the run are stored and sent. This interval
    /// replaces the deployment's `EVENT_INTERVAL_MS`.
    fn set_event_interval(&self, interval_ms: u64);

    /// An id that no other task has.
    fn unique_id(&self) -> &str;

    /// The current task, if there is one.
    fn task(&self) -> Option<Task>;

    /// Continues from the current state of the task. Returns the length of the newest wait, in milliseconds.
    fn take_up(&self) -> Option<u64>;

    /// Lets the run emit other events than earlier attempts: an event that an earlier attempt has emitted with the same content
    /// is skipped, each other event is new.
    fn skip_repeated(&self);

    /// Treats all further events of the run as new, whatever earlier attempts have emitted.
    fn forget_said(&self);

    /// The unanswered requests for which the run was parked the last time in this turn.
    fn unanswered(&self) -> Option<Unanswered>;

    /// The result of the task's newest step of this name.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn last_step(&self, name: &str) -> Result<Option<Json>, ExecutorError>;

    /// The finished steps of the task, one list for each turn, oldest first.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn steps(&self) -> Result<Vec<Vec<StepRecord>>, ExecutorError>;

    /// The messages so far, oldest first.
    fn history(&self) -> Vec<Message>;

    /// True if the client has canceled the task.
    fn is_canceled(&self) -> bool;

    /// Takes the oldest waiting message that arrived during the run.
    fn take_message(&self) -> Option<Message>;

    /// The number of times that clients have requested the task since the run began.
    fn polls(&self) -> u64;

    /// Completes when the task has changed after the call.
    fn changed(&self) -> LocalBoxFuture<'_, ()>;

    /// The credentials of the turn, decrypted: a JSON object.
    ///
    /// # Errors
    ///
    /// If the credentials cannot be decrypted.
    fn credentials(&self) -> LocalBoxFuture<'_, Result<Option<Secret>, ExecutorError>>;

    /// Records the run's usage of a model; the name is empty if it is not known.
    fn record_usage(&self, model: &str, used: Usage);

    /// Records the usage of requests whose answers failed.
    fn record_repeated_usage(&self, model: &str, used: Usage);

    /// The usage of the turn so far.
    fn usage(&self) -> Usage;

    /// Begins a wait for which the run is dropped from memory. If a callback is given, the next body posted to it also ends the
    /// wait.
    ///
    /// # Errors
    ///
    /// If the run must not wait.
    fn begin_wait(
        &self,
        wait: Wait,
        callback: Option<&CallbackName>,
    ) -> Result<WaitStart, ExecutorError>;

    /// Cancels the wait that was begun, because the run does not wait any more.
    fn give_up_wait(&self);

    /// Makes the next callback of this name.
    ///
    /// # Errors
    ///
    /// If the run must not have this callback.
    fn make_callback(&self, name: &str, terms: CallbackTerms) -> Result<Callback, ExecutorError>;

    /// Takes the next body that was posted to a callback.
    ///
    /// # Errors
    ///
    /// If no body is waiting.
    fn take_call(&self, name: &CallbackName) -> Result<Part, ExecutorError>;

    /// Begins a step, or returns its stored outcome.
    ///
    /// # Errors
    ///
    /// If the run must not have such a step.
    fn begin_step(&self, name: &str) -> Result<StepStart, ExecutorError>;

    /// Notes what a step was given, if the agent's file asks for that. It is stored with the outcome of the step, without secrets.
    fn note_input(&self, name: &str, nth: u32, input: &dyn Fn() -> Value);

    /// Stores the outcome of a step.
    ///
    /// # Errors
    ///
    /// If the outcome cannot be stored.
    fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ExecutorError>;

    /// Stores the value with which the run continues after a step that failed. The value is stored as a result.
    ///
    /// # Errors
    ///
    /// If the value cannot be stored.
    fn end_failed_step(&self, name: &str, nth: u32, kept: Json) -> Result<(), ExecutorError>;
}

/// The services outside of the task: the clock, random numbers, other servers and agents.
pub trait RunOutside {
    /// The current instant.
    fn now(&self) -> UnixMillis;

    /// Completes after `millis` milliseconds.
    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()>;

    /// The source of random numbers.
    fn random(&self) -> &dyn Random;

    /// Counters that are stored beyond the end of the task.
    fn counters(&self) -> &dyn Counters;

    /// The client for other servers.
    fn http(&self) -> &dyn Http;

    /// The client for the agents of this Worker. Requests are made by the agent of this task, for this caller.
    fn hosted(&self, by: AskedBy, caller: &Caller) -> Rc<dyn Http>;

    /// The client for a binding of the Worker, from [`Peers::bound`](crate::port::Peers::bound).
    fn bound(&self, target: &Target) -> Rc<dyn Http>;

    /// A client of an agent elsewhere, with the settings that the platform has for all such clients.
    fn equip(&self, client: Client) -> Client;

    /// The tools of an MCP server, from [`Peers::tools`](crate::port::Peers::tools).
    fn mcp_tools<'a>(
        &'a self,
        server: &'a FoundServer,
        newer_than: Option<UnixMillis>,
    ) -> LocalBoxFuture<'a, Result<Rc<KnownTools>, McpError>>;

    /// The durations of the run's work, and its trace.
    fn timing(&self) -> &Timing;

    /// The largest number of agent-to-agent calls in a row.
    fn max_depth(&self) -> u32;
}
