//! The agent of a task: its executor, and the limits of its runs.

use std::rc::Rc;

use super::life::Life;
use super::open_error::{NoAgent, OpenError};
use crate::config::Limits;
use crate::executor::Runner;
use crate::task::Recovery;
use a2a_agents::RunSettings;

/// Finds the agent that answers for a task, by its slug.
pub type FindAgent = Rc<dyn Fn(&str) -> Result<Runner, NoAgent>>;

/// The agents of this Worker.
pub(super) struct Agents(FindAgent);

impl Agents {
    /// The agents that this function finds.
    pub(super) fn new(find: FindAgent) -> Self {
        Self(find)
    }

    /// The agent with this slug.
    ///
    /// # Errors
    ///
    /// If no executor can run for the agent.
    pub(super) fn find(&self, slug: &str) -> Result<Runner, NoAgent> {
        (self.0)(slug)
    }

    /// The agent of the task; `None` if this Worker does not have it any more.
    pub(super) fn of(&self, life: &Life) -> Option<Runner> {
        life.facts().and_then(|facts| self.find(&facts.agent).ok())
    }

    /// The settings for runs in the file of the task's agent; those of a file without any if this Worker does not have it any more.
    pub(super) fn settings(&self, life: &Life) -> RunSettings {
        self.of(life).map(|runner| runner.settings).unwrap_or_default()
    }

    /// The limits of the task's runs; `None` if this Worker does not have its agent any more.
    pub(super) fn limits(&self, life: &Life, limits: &Limits) -> Option<RunLimits> {
        self.of(life).map(|runner| RunLimits::of(&runner, limits))
    }

    /// Refuses if the executor of the task's agent could not be made. A missing agent is no error here: the task of a
    /// missing agent fails.
    ///
    /// # Errors
    ///
    /// [`OpenError::AgentUnusable`] if the executor could not be made.
    pub(super) fn check(&self, life: &Life) -> Result<(), OpenError> {
        let Some(facts) = life.facts() else { return Ok(()) };
        match self.find(&facts.agent) {
            Err(NoAgent::Unusable) => Err(OpenError::AgentUnusable(facts.agent)),
            Ok(_) | Err(NoAgent::Missing) => Ok(()),
        }
    }
}

/// The limits of an agent's runs: from the agent's file, else from the settings of the deployment.
pub(super) struct RunLimits {
    /// The time of a run, all attempts together, in milliseconds. A request may name a shorter time.
    pub(super) timeout_ms: u64,
    /// The time without progress after which a run fails, in milliseconds; 0 for no limit.
    pub(super) idle_ms: u64,
    /// The highest number of attempts.
    pub(super) max_attempts: u32,
    /// The recovery mode: the handling of a lost run.
    pub(super) recovery: Recovery,
}

impl RunLimits {
    /// The limits of the runner's agent.
    pub(super) fn of(runner: &Runner, limits: &Limits) -> Self {
        let settings = &runner.settings;
        Self {
            timeout_ms: settings.timeout_ms.unwrap_or(limits.run_timeout_ms),
            idle_ms: settings.idle_timeout_ms.unwrap_or(limits.idle_timeout_ms),
            max_attempts: settings.max_attempts.unwrap_or(limits.max_attempts),
            recovery: runner.recovery(),
        }
    }
}
