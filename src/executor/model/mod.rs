//! The executor `model`: a language model answers, and calls tools until it has the information for its answer.
//!
//! Each request to the model and each tool call is a durable step, so a run that resumes continues with the step that was
//! interrupted. Events of an earlier attempt are not compared with the events of the new attempt: a model writes a different
//! text each time. If the request for an answer is repeated, its artifact begins again.
//!
//! # An agent with a model
//!
//! ```text
//! turn ──> instructions, earlier tasks (step "context"), this task's earlier turns (step "conversation")      start.rs, conversation.rs
//!      ──> round: what fits (budget.rs) ──> step "model": stream ──> artifact `answer`, a chunk each interval    request.rs, writer.rs
//!              └─ calls? ──> a step each, "2.1", "2.2", side by side ──> results ──> next round                  calls.rs, callable.rs
//!              └─ a question for the user? ──> step "conversation", input required; the next turn continues
//!              └─ none ──> completed, rejected or failed (ending.rs); data is checked first (output.rs)
//! ```
//!
//! `executor/model/` is the loop; `crates/chat` implements the protocol to the model. `callable.rs` is the only trait of callables: tools of this
//! Worker (`own.rs`), of MCP servers (`mcp.rs`), other agents (`delegate/`), the user (`ask_user.rs`); `toolbox.rs` names them so that models
//! accept the names.
//!
//! - A run resumes its task (`Turn::take_up`): a model writes a different text each time, so nothing is compared. The position of a resumed run
//!   follows only from its steps.
//! - The step of an answer is stored in one row with the last chunk of its text, and each answer begins the artifact from its
//!   start. So if the step is done, the artifact has the whole text; if the step is missing, the next answer replaces the
//!   artifact. The text of a final answer is only in the artifact, not in the step.
//! - If an answer with calls was read from storage, an earlier attempt may have made those calls whose steps are not done: `ModelCall::is_doubtful`.
//!   A repeated call has the same idempotency key, which is made from its position.
//! - If a limit forbids another request to the model, an answer with calls fails the turn before the calls are made, unless one of them certainly
//!   asks the user (`Callable::asks`). The question ends the turn without another request, and the next turn counts its own usage.
//! - A call of an MCP tool is made by `ServerCall` (`executor/call/mcp/mod.rs`, `follow.rs`), like in the kind `tools`; each kind only converts the
//!   end of a call into a result (`tools/mcp/ending.rs`, `model/mcp.rs`). A server with an older protocol version asks its questions while the call
//!   is open. By the `Desk` of the round (`executor/call/desk.rs`), one call asks at a time, and each question is stored before it is shown. The step
//!   of a call also stores the number of messages that the call has taken, so that a run that resumes does not read them as new messages. The turn
//!   then stores the conversation in the step `open calls`: if the process died while the question was open, the next turn continues from there.
//! - Secrets are removed from the result of a tool before the model receives it, and from an answer of the model before
//!   it is stored as a step.
//! - A delegation is sent like the message of the executor `remote` (`executor/remote/send.rs`): its id follows from the task, the turn and the call,
//!   and a step `agent <call> <agent>` stores the link to the other task as soon as it is known. `delegate/ledger.rs` reads from the steps of the
//!   whole task which tasks were delegated, which of them are open, and which calls may have begun a task. A cancel, and the answer to a question,
//!   use only this ledger. A task counts as open until its outcome proves that it has ended: after a timeout, or if following it failed, it is
//!   canceled once more at the end. The files in its artifacts become one artifact, named after the task, which each outcome replaces.

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
use crate::usage::{CallerLimits, micros};
use a2a_agents::tool::Tool;
use a2a_agents::{CheckedAgent, Misfit, ModelLimits, ModelSettings, Provider};
use run::Run;

/// The id of the artifact that contains the answer.
const ANSWER: &str = "answer";

/// The executor that lets a language model answer.
pub(super) struct ModelExecutor {
    settings: ModelSettings,
    /// The tools of this Worker that the model may call.
    offer: Offer,
    /// The tools of MCP servers.
    mcp: Option<McpOffer>,
    awake: AwakeRuns,
}

/// Makes the executor of an agent of kind `model`.
pub(super) fn make(
    agent: &CheckedAgent,
    registered: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    let settings = ModelSettings::of(&agent.executor.table)?;
    let offer = Offer::of(agent, "tools", &settings.tools, registered)?;
    let mcp = McpOffer::of(settings.mcp.clone());
    Ok(Rc::new(ModelExecutor { settings, offer, mcp, awake: AwakeRuns::default() }))
}

impl ModelExecutor {
    /// True if the model may delegate to other agents.
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
        // Delegated tasks are useless once our task has ended. If storage has failed, the ledger cannot be read and nothing is
        // canceled: another run continues our task.
        if self.coordinates() && (turn.is_canceled() || result.is_err() || has_ended(turn)) {
            Box::pin(delegate::cancel_left(turn)).await;
        }
        awake.end();
        result
    }

    async fn cancel(&self, turn: &Turn) {
        if self.coordinates() && self.awake.has_left(turn).await {
            // A run that was dropped may have begun tasks without storing their links.
            Box::pin(delegate::cancel_left(turn)).await;
        }
    }

    /// The `cancel` hook must also cancel the delegated tasks.
    fn ensures_cancel(&self) -> bool {
        self.coordinates()
    }

    fn caller_limits(&self) -> CallerLimits {
        let ModelLimits { caller_tokens_per_day, caller_cost_per_day, .. } = self.settings.limits;
        CallerLimits {
            tokens_per_day: caller_tokens_per_day,
            cost_micros_per_day: caller_cost_per_day.map(micros),
        }
    }

    fn needs(&self, _: &Outside) -> Result<Needs, ExecutorError> {
        Ok(match self.settings.provider {
            Provider::WorkersAi => Needs::Bound(Target::WorkersAi(self.settings.binding.clone())),
            Provider::OpenAi => Needs::Nothing,
        })
    }

    /// Finished steps are not repeated.
    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }
}

fn has_ended(turn: &Turn) -> bool {
    turn.task().is_some_and(|task| task.status.state.is_terminal())
}
