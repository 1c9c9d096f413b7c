//! The executor `model`: a language model answers, and calls tools until it has what it needs.
//!
//! Each request to the model and each call of a tool is a durable step, so a run that resumes goes on with the one that was
//! interrupted. What the run said before is not compared: a model says another thing each time. An answer whose request is made
//! again begins its artifact anew.

mod ask_user;
mod budget;
mod callable;
mod calls;
mod conversation;
mod delegate;
mod ending;
mod limits;
mod mcp;
mod output;
mod own;
mod parts;
mod request;
mod result;
mod run;
mod start;
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
        turn.host.set_event_interval(self.settings.event_interval_ms);
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
