//! The code that answers for an agent: the [`AgentExecutor`] trait, and the executors that are built into the Worker.

mod agents;
mod awake;
mod call;
mod calling;
mod cards;
mod context;
mod credentials;
mod double;
pub mod function;
mod http;
mod learned;
mod mcp;
mod model;
mod needs;
mod redaction;
mod registry;
mod remote;
mod script;
mod tools;
mod turn;

use std::fmt;
use std::rc::Rc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use crate::port::{HttpError, Outside};
use crate::task::{Recovery, TaskError};
use crate::usage::CallerLimits;
use a2a_agents::{Misfit, NotSet, RunSettings};

pub use crate::remotes::Found;
pub use agents::{Agents, CheckAccess, HostedAgent, Parts, Unreadable};
pub use cards::Cards;
pub use credentials::TaskCredentials;
pub use double::{Double, Script};
pub use learned::{Learned, PATIENCE_MS, Taken};
pub use needs::Needs;
pub(crate) use redaction::{Redaction, Tail};
pub use registry::{Constructor, Registry};
pub use remote::RemoteExecutor;
pub use turn::{
    Callback, CallbackTerms, Called, Emission, Events, LONGEST_WAIT_MS, MAX_CALLBACK_USES, Retry,
    RunOutside, RunSpans, RunTask, StepStart, TimedWork, Timing, Turn, Wait, WaitStart, Woken,
};

/// The logic of an agent: the one interface that an agent writer must learn.
///
/// One call of `execute` handles one message. The call may take long: it continues after the client has disconnected.
/// Events are stored and become visible whenever the call waits for something, and when it returns; all events between
/// two waits are stored as one row.
///
/// A run must end in one of these ways: complete, fail or reject the task, ask for input (`require_input`,
/// `require_auth`), or send a direct `reply`. If it returns without any of these, or with an error, the task fails with
/// that reason.
///
/// ```
/// use a2a_edge::executor::{AgentExecutor, Events, ExecutorError, Retry, Turn};
/// use a2a::model::{Artifact, Part};
/// use a2a_edge::task::Recovery;
/// use a2a_edge::port::HttpRequest;
/// use async_trait::async_trait;
///
/// struct Seats;
///
/// #[async_trait(?Send)]
/// impl AgentExecutor for Seats {
///     async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
///         events.working(Some("reserving a seat"))?;
///         let seat: String = turn
///             .step_with("reserve", Retry::times(3), async || {
///                 let request = HttpRequest::new("POST", "https://seats.example/reservations")
///                     .with_header("Idempotency-Key", turn.unique_id());
///                 let answer = turn.fetch(request).await?;
///                 if answer.is_success() {
///                     Ok(answer.body)
///                 } else {
///                     Err(ExecutorError(format!("no seat: status {}", answer.status)))
///                 }
///             })
///             .await?;
///         events.artifact(Artifact::new("seat", Part::text(seat)))?;
///         events.complete(None)
///     }
///
///     fn recovery(&self) -> Recovery {
///         Recovery::Resume
///     }
/// }
/// ```
#[async_trait(?Send)]
pub trait AgentExecutor {
    /// Handles the message of this turn.
    ///
    /// # Errors
    ///
    /// The reason of the failure, which the client may read; the task fails with this text.
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError>;

    /// Called once when the client cancels the task of a run that is in memory or parked, to release the run's resources outside
    /// of the task. The task is already canceled at this time. A run in memory continues while the hook is called: `execute`
    /// should notice [`Turn::canceled`] and return soon, and is dropped after five seconds. The hook continues after the run's
    /// end or drop. For a parked run, only the turn exists. The hook has five seconds, plus the five of the run if the run is in
    /// memory. The hook is not called again if the process dies meanwhile, and not called for a run that ends in another way,
    /// unless [`ensures_cancel`](Self::ensures_cancel) returns true.
    async fn cancel(&self, turn: &Turn) {
        let _ = turn;
    }

    /// True if [`cancel`](Self::cancel) is called with certainty. The hook is then also called after a run that was dropped
    /// because the run exceeded its time, made no progress or was lost in its last attempt. The hook is called again, within an
    /// hour, if the process dies or the hook panics before it returns. The guarantee costs a row for each canceled task, and an
    /// alarm for a parked run.
    fn ensures_cancel(&self) -> bool {
        false
    }

    /// The handling of a run that was interrupted by a crash, a deploy or a panic. By default the task fails, since
    /// only the author of the executor knows if work may be repeated. An agent file may override the value.
    ///
    /// An executor that returns [`Recovery::Resume`] must repeat the same actions in a new run: everything that differs
    /// between runs (answers of other systems, time, chance) must be read in a [`step`](Turn::step).
    ///
    /// The default for an executor that [parks](Self::parks) its runs is to resume.
    fn recovery(&self) -> Recovery {
        if self.parks() { Recovery::Resume } else { Recovery::Fail }
    }

    /// True if runs may be parked by [`Turn::wait_until`] or [`Turn::wait_callback`]. If this returns true and the
    /// agent file has another `recovery` than `resume`, the agent is refused when the Worker starts, and by
    /// `Host::check` in a test. If this returns false, a run that wants to wait in this way fails.
    fn parks(&self) -> bool {
        false
    }

    /// The limits for the [usage](Turn::record_usage) of models by one caller in a day. Above a limit, each message of the
    /// caller is refused before any work is done (HTTP 429), until midnight in UTC.
    fn caller_limits(&self) -> CallerLimits {
        CallerLimits::default()
    }

    /// The JSON schema of the arguments for the skill of this id, for hosts of MCP. A message calls the skill by a data part
    /// `{"tool": "<id>", "arguments": {…}}`. `None` for a skill that is not called in this way, or whose schema is not available
    /// here.
    fn input_schema(&self, skill: &str) -> Option<&Value> {
        let _ = skill;
        None
    }

    /// The resources outside of this Worker that must be reachable for the agent to work; shown to people who check the agent.
    /// The function sends no requests.
    ///
    /// # Errors
    ///
    /// If a secret or a variable that names the place is not set.
    fn needs(&self, outside: &Outside) -> Result<Needs, ExecutorError> {
        let _ = outside;
        Ok(Needs::Nothing)
    }
}

/// The executor of an agent, with its settings.
#[derive(Clone)]
pub struct Runner {
    /// The logic of the agent.
    pub executor: Rc<dyn AgentExecutor>,
    /// The settings for runs in the agent file.
    pub settings: RunSettings,
    /// The `Outside` for [`Turn::secret`] and [`Turn::variable`].
    pub outside: Outside,
}

impl Runner {
    /// The handling of a run that was interrupted.
    pub fn recovery(&self) -> Recovery {
        self.settings.recovery.unwrap_or_else(|| self.executor.recovery())
    }

    /// Checks that the agent's file suits its executor.
    ///
    /// # Errors
    ///
    /// The change that the agent file needs.
    pub fn check(&self) -> Result<(), Misfit> {
        if self.executor.parks() && self.recovery() != Recovery::Resume {
            let fix =
                "its executor parks runs, which needs `recovery = \"resume\"` in [executor.run]";
            return Err(Misfit(fix.to_owned()));
        }
        Ok(())
    }
}

/// The settings of an executor without settings: `[executor.<kind>]` is empty or absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoSettings {}

/// The reason why a run failed, in words that the client may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorError(pub String);

impl fmt::Display for ExecutorError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ExecutorError {}

impl From<TaskError> for ExecutorError {
    fn from(error: TaskError) -> Self {
        Self(error.to_string())
    }
}

impl From<NotSet> for ExecutorError {
    fn from(missing: NotSet) -> Self {
        Self(missing.to_string())
    }
}

impl From<HttpError> for ExecutorError {
    fn from(error: HttpError) -> Self {
        Self(error.to_string())
    }
}
