//! What a run asks of others: of the task that it belongs to, and of what is outside of that task.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::{Callback, CallbackTerms, Emission, Wait, WaitStart};
use crate::auth::Caller;
use crate::executor::ExecutorError;
use crate::mcp::{FoundServer, KnownTools};
use crate::port::{Http, Random, Target};
use crate::task::{CallbackName, StepRecord, Unanswered};
use crate::usage::Usage;
use a2a::client::Client;
use a2a::http::trace::TraceContext;
use a2a::model::{Json, Message, Part, Secret, Task, UnixMillis};
use a2a_agents::tool::{Counters, StepStart};
use mcp::client::McpError;

/// The task that a run belongs to, as [`Turn`](super::Turn) and [`Events`](super::Events) reach it: what the run says, its steps, waits,
/// callbacks and usage, and what the task knows.
pub trait RunTask {
    /// Takes what the executor says.
    ///
    /// # Errors
    ///
    /// Why it is refused; nothing has changed then.
    fn emit(&self, emission: Emission) -> Result<(), ExecutorError>;

    /// What the run says is stored and shown in this interval at most, after a burst, instead of the deployment's
    /// `EVENT_INTERVAL_MS`.
    fn set_event_interval(&self, interval_ms: u64);

    /// An id that no other task has.
    fn unique_id(&self) -> &str;

    /// The task as it is now, if there is one.
    fn task(&self) -> Option<Task>;

    /// The run goes on from where its task stands. Gives how long the newest wait was to take, in milliseconds.
    fn take_up(&self) -> Option<u64>;

    /// The requests without an answer for which the run was parked the last time in this turn.
    fn unanswered(&self) -> Option<Unanswered>;

    /// What the newest step of this name came to in the task.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn last_step(&self, name: &str) -> Result<Option<Json>, ExecutorError>;

    /// The steps that were done in the task, those of each turn by themselves, oldest first.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn steps(&self) -> Result<Vec<Vec<StepRecord>>, ExecutorError>;

    /// What was said so far, oldest first.
    fn history(&self) -> Vec<Message>;

    /// Whether the client has canceled the task.
    fn is_canceled(&self) -> bool;

    /// Takes the oldest message that came while the run was under way.
    fn take_message(&self) -> Option<Message>;

    /// How often the task was asked for since the run began.
    fn polls(&self) -> u64;

    /// Completes when anything about the task has changed since the call.
    fn changed(&self) -> LocalBoxFuture<'_, ()>;

    /// The credentials of the turn, opened: a JSON object.
    ///
    /// # Errors
    ///
    /// If they cannot be opened.
    fn credentials(&self) -> LocalBoxFuture<'_, Result<Option<Secret>, ExecutorError>>;

    /// Takes what the run has used of models.
    fn record_usage(&self, used: Usage);

    /// Takes what the run has used for requests whose answers came to nothing.
    fn record_repeated_usage(&self, used: Usage);

    /// What the turn has used so far.
    fn usage(&self) -> Usage;

    /// Begins to wait outside of memory, for a callback if one is named.
    ///
    /// # Errors
    ///
    /// If the run may not.
    fn begin_wait(
        &self,
        wait: Wait,
        callback: Option<&CallbackName>,
    ) -> Result<WaitStart, ExecutorError>;

    /// The run does not wait any more for what it began to wait for.
    fn give_up_wait(&self);

    /// The next callback of this name.
    ///
    /// # Errors
    ///
    /// If the run may have none.
    fn make_callback(&self, name: &str, terms: CallbackTerms) -> Result<Callback, ExecutorError>;

    /// Takes the next body that was posted to a callback.
    ///
    /// # Errors
    ///
    /// If there is none.
    fn take_call(&self, name: &CallbackName) -> Result<Part, ExecutorError>;

    /// Begins a step, or gives what it came to before.
    ///
    /// # Errors
    ///
    /// If the run may have no such step.
    fn begin_step(&self, name: &str) -> Result<StepStart, ExecutorError>;

    /// Keeps what a step came to.
    ///
    /// # Errors
    ///
    /// If it cannot be kept.
    fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ExecutorError>;

    /// Keeps what the run goes on with after a step that failed, as a result.
    ///
    /// # Errors
    ///
    /// If it cannot be kept.
    fn end_failed_step(&self, name: &str, nth: u32, kept: Json) -> Result<(), ExecutorError>;
}

/// What a run reaches outside of its task: the clock, chance, other servers and agents.
pub trait RunOutside {
    /// The present instant.
    fn now(&self) -> UnixMillis;

    /// Completes after `millis` milliseconds.
    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()>;

    /// Chance.
    fn random(&self) -> &dyn Random;

    /// Numbers that outlive the task.
    fn counters(&self) -> &dyn Counters;

    /// Other servers.
    fn http(&self) -> &dyn Http;

    /// The agents of this Worker, as the agent of this slug asks them for this caller.
    fn hosted(&self, agent: &str, caller: &Caller) -> Rc<dyn Http>;

    /// What is bound to the Worker, as [`Peers::bound`](crate::port::Peers::bound) gives it.
    fn bound(&self, target: &Target) -> Rc<dyn Http>;

    /// The client of an agent elsewhere, with what the platform has for all.
    fn equip(&self, client: Client) -> Client;

    /// What an MCP server offers, as [`Peers::tools`](crate::port::Peers::tools) gives it.
    fn mcp_tools<'a>(
        &'a self,
        server: &'a FoundServer,
        newer_than: Option<UnixMillis>,
    ) -> LocalBoxFuture<'a, Result<Rc<KnownTools>, McpError>>;

    /// The trace that the run belongs to.
    fn trace(&self) -> Option<TraceContext>;

    /// How many agents may call each other in a row.
    fn max_depth(&self) -> u32;
}
