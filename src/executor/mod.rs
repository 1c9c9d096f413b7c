//! What answers for an agent: the [`AgentExecutor`] trait, and the executors that come with the
//! Worker.

mod agents;
mod awake;
mod call;
mod calling;
mod cards;
mod context;
mod credentials;
mod double;
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
pub use agents::{Agents, HostedAgent, Unreadable};
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
    RunOutside, RunTask, StepStart, Turn, Wait, WaitStart, Woken,
};

/// The logic of an agent: the one interface that an agent writer must learn.
///
/// A run of `execute` handles one message. It may take its time: it goes on when the client leaves.
/// What it says through `events` becomes visible, and durable, whenever it waits for something and
/// when it returns; all that is said in between is stored as one row.
///
/// A run must end by completing, failing or rejecting the task, by asking for something
/// (`require_input`, `require_auth`) or by a direct `reply`. If it returns without that, or with an
/// error, the task fails with the reason.
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
    /// A reason that the client may read; the task fails with it.
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError>;

    /// Called once when the client canceled the task of a run that is under way or parked, to release what the run
    /// holds outside. The task is canceled already. A run that is under way goes on beside the hook: `execute` should notice
    /// [`Turn::canceled`] and return soon, or is dropped after five seconds; neither ends the hook. Of a run that is parked
    /// there is nothing but the turn. The hook has five seconds, and beside a run that is under way the five of the run
    /// as well. It is not called again if the process dies meanwhile, and not for a run that ends in
    /// another way, unless it [asks for that](Self::ensures_cancel).
    async fn cancel(&self, turn: &Turn) {
        let _ = turn;
    }

    /// Whether [`cancel`](Self::cancel) is called for sure: also after a run that had to be dropped, because it was over its time, made
    /// no progress or was lost in its last attempt; and again where the process has died, or the hook has panicked, before it
    /// returned, as often as needed within an hour. That costs each canceled task a row, and an alarm for a run that was parked.
    fn ensures_cancel(&self) -> bool {
        false
    }

    /// What is to be done when a run was interrupted, by a crash, a deploy or a panic: unless the
    /// executor says otherwise, the task fails, since only its author knows whether work may be
    /// repeated. An agent file may decide otherwise.
    ///
    /// One that says [`Recovery::Resume`] must take the same way again: what differs from run to run
    /// (answers of others, time, chance) belongs into a [`step`](Turn::step).
    ///
    /// Without that, one that [parks](Self::parks) its runs resumes.
    fn recovery(&self) -> Recovery {
        if self.parks() { Recovery::Resume } else { Recovery::Fail }
    }

    /// Whether runs may be parked by [`Turn::wait_until`] or [`Turn::wait_callback`]. An agent that says so and whose
    /// file has another `recovery` than `resume` is refused when the Worker starts, and by
    /// `Host::check` in a test; otherwise its runs fail when they want to wait.
    fn parks(&self) -> bool {
        false
    }

    /// How much of models the calls of one caller may [use](Turn::record_usage) in a day. A message of a caller who has used up as
    /// much is refused before anything is done for it (HTTP 429), until midnight in UTC.
    fn caller_limits(&self) -> CallerLimits {
        CallerLimits::default()
    }

    /// The JSON schema of the arguments with which a message calls the skill of this id by a data part
    /// `{"tool": "<id>", "arguments": {…}}`, for hosts of MCP. Nothing for a skill that is not called like that, or whose schema is
    /// not known here.
    fn input_schema(&self, skill: &str) -> Option<&Value> {
        let _ = skill;
        None
    }

    /// What has to be there outside of this Worker for the agent to work, for people who look whether it can. Nothing is asked for
    /// it.
    ///
    /// # Errors
    ///
    /// Why it is not known where that is: a secret or a variable is not set.
    fn needs(&self, outside: &Outside) -> Result<Needs, ExecutorError> {
        let _ = outside;
        Ok(Needs::Nothing)
    }
}

/// What runs an agent.
#[derive(Clone)]
pub struct Runner {
    /// Its logic.
    pub executor: Rc<dyn AgentExecutor>,
    /// What its file says about runs.
    pub settings: RunSettings,
    /// The outside, for [`Turn::secret`] and [`Turn::variable`].
    pub outside: Outside,
}

impl Runner {
    /// What is to be done when a run was interrupted.
    pub fn recovery(&self) -> Recovery {
        self.settings.recovery.unwrap_or_else(|| self.executor.recovery())
    }

    /// Whether the agent's file suits its executor.
    ///
    /// # Errors
    ///
    /// What has to change in the file.
    pub fn check(&self) -> Result<(), Misfit> {
        if self.executor.parks() && self.recovery() != Recovery::Resume {
            let fix =
                "its executor parks runs, which needs `recovery = \"resume\"` in [executor.run]";
            return Err(Misfit(fix.to_owned()));
        }
        Ok(())
    }
}

/// The settings of an executor that has none: `[executor.<kind>]` is empty or absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoSettings {}

/// Why a run failed, in words that the client may read.
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
