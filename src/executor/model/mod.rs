//! The executor `model`: a language model answers, and calls tools until it has what it needs.
//!
//! Each request to the model and each call of a tool is a durable step, so a run that resumes goes on with the one that was
//! interrupted. What the run said before is not compared: a model says another thing each time. An answer whose request is made
//! again begins its artifact anew.
//!
//! # An agent with a model
//!
//! ```text
//! turn ──> instructions, earlier tasks (step "context"), this task's earlier turns (step "conversation")      start.rs, conversation.rs
//!      ──> round: what fits (budget.rs) ──> step "model": stream ──> artifact `answer`, a chunk each interval    request.rs, writer.rs
//!              └─ calls? ──> a step each, "2.1", "2.2", side by side ──> results ──> next round                  calls.rs, callable.rs
//!              └─ a question for the user? ──> step "conversation", input required; the next turn goes on
//!              └─ none ──> completed, rejected or failed (ending.rs); data is checked first (output.rs)
//! ```
//!
//! `executor/model/` is the loop; `crates/chat` speaks with the model. `callable.rs` is the one seam to what a model may call: tools of this Worker (`own.rs`), of MCP servers (`mcp.rs`), other agents (`delegate/`), the user (`ask_user.rs`);
//! `toolbox.rs` gives them names that models take.
//!
//! - A run takes up its task (`Turn::take_up`): a model says another thing each time, so nothing is compared. Where a run that resumes is follows from its steps alone.
//! - The step of an answer is stored in one row with the last chunk of its text, and each answer begins the artifact anew. So a run that finds the step done has the whole text in the artifact, and one that does not find it replaces what is there.
//!   The text of a last answer is in the artifact alone, not in the step.
//! - A call whose step is not done may have been made by an attempt before, if the answer that asks for it came from storage: `ModelCall::is_doubtful`. A call keeps its idempotency key, which is made of its place.
//! - Where a limit does not let the model be asked again, an answer with calls fails the turn before they are made, unless one of them asks the user for certain (`Callable::asks`). The question ends the turn without another request, and the next turn
//!   counts anew.
//! - A call of a tool of an MCP server is made by `ServerCall` (`executor/call/mcp/mod.rs`, `follow.rs`), which the kind `tools` uses too: each kind only says what the end of a call means (`tools/mcp/ending.rs`, `model/mcp.rs`). A server of an
//!   older revision asks while its call is open: the `Desk` of the round (`executor/call/desk.rs`) lets one call ask at a time, keeps the question before it shows, and notes in the step of a call how many messages the call has taken, so that a run that
//!   resumes does not take them for new ones. A model's turn keeps the conversation in the step `open calls` then: the next turn goes on from it if the process died while the question was open.
//! - What a tool gives loses its secrets before the model is told, and what a model says before it is kept as a step.
//! - A delegation is sent as the message of a front is (`executor/remote/send.rs`): under an id that follows from the task, the turn and the call, and with a step `agent <call> <agent>` that keeps what leads to the other task before it is waited
//!   for. `delegate/ledger.rs` reads from the steps of the whole task what was delegated, what of it is open, and which calls may have begun a task; a cancel and the answer to a question go by that alone. A task
//!   counts as open until its outcome says for certain that it has ended: a time that is over, or a task that was lost from sight, is canceled once more at the end. The files of its artifacts are one artifact, named by the task, which each outcome replaces.

mod ask_user;
mod budget;
mod callable;
mod conversation;
mod delegate;
mod ending;
mod limits;
mod mcp;
mod output;
mod own;
mod parts;
mod result;
mod run;
mod toolbox;
mod writer;

use std::rc::Rc;

use async_trait::async_trait;

use super::awake::AwakeRuns;
use super::tools::{McpOffer, Offer};
use super::{AgentExecutor, Events, ExecutorError, Needs, Turn};
use crate::port::{Outside, Target};
use crate::task::Recovery;
use crate::usage::CallerLimits;
use a2a_agents::tool::Tool;
use a2a_agents::{EmbeddedAgent, Misfit, ModelLimits, ModelSettings, Provider};
use run::Run;

/// The id of the artifact that holds the answer.
const ANSWER: &str = "answer";

/// Asks a language model.
pub(super) struct ModelExecutor {
    settings: ModelSettings,
    /// The tools of this Worker that the model may call.
    offer: Offer,
    /// Those of MCP servers.
    mcp: Option<McpOffer>,
    awake: AwakeRuns,
}

/// Makes the executor of an agent of kind `model`.
pub(super) fn make(
    agent: &EmbeddedAgent,
    registered: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    let settings = ModelSettings::of(&agent.executor.table)?;
    let offer = Offer::of(agent, &settings.tools, registered)?;
    let mcp = McpOffer::of(settings.mcp.clone());
    Ok(Rc::new(ModelExecutor { settings, offer, mcp, awake: AwakeRuns::default() }))
}

impl ModelExecutor {
    /// Whether the model may delegate to other agents.
    fn coordinates(&self) -> bool {
        !self.settings.agents.is_empty()
    }
}

#[async_trait(?Send)]
impl AgentExecutor for ModelExecutor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        turn.take_up();
        turn.run_task.set_event_interval(self.settings.event_interval_ms);
        let awake = self.awake.wake(turn);
        let result = Box::pin(Run::new(self, turn, events).execute()).await;
        // What other agents were given is of no use to a task that has ended. Where storage has failed nothing is found: another
        // run goes on with it.
        if self.coordinates() && (turn.is_canceled() || result.is_err() || has_ended(turn)) {
            Box::pin(delegate::cancel_left(turn)).await;
        }
        awake.end();
        result
    }

    async fn cancel(&self, turn: &Turn) {
        if self.coordinates() && self.awake.has_left(turn).await {
            // A run that was dropped may have begun tasks and not known it.
            Box::pin(delegate::cancel_left(turn)).await;
        }
    }

    /// The tasks that other agents were given are canceled, too.
    fn ensures_cancel(&self) -> bool {
        self.coordinates()
    }

    fn caller_limits(&self) -> CallerLimits {
        let ModelLimits { caller_tokens_per_day, caller_cost_per_day, .. } = self.settings.limits;
        CallerLimits {
            tokens_per_day: caller_tokens_per_day,
            cost_micros_per_day: caller_cost_per_day.map(limits::micros),
        }
    }

    fn needs(&self, _: &Outside) -> Result<Needs, ExecutorError> {
        Ok(match self.settings.provider {
            Provider::WorkersAi => Needs::Bound(Target::WorkersAi(self.settings.binding.clone())),
            Provider::OpenAi => Needs::Nothing,
        })
    }

    /// What is done is not done again.
    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }
}

fn has_ended(turn: &Turn) -> bool {
    turn.task().is_some_and(|task| task.status.state.is_terminal())
}
