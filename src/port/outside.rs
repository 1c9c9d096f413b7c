//! The outside services that executors and tools receive when they are made.

use std::rc::Rc;

use super::{Clock, Http, Observation, Observer};
use crate::mcp::McpServers;
use crate::remotes::Remotes;
use a2a::model::Secret;
use a2a_agents::{NotSet, Values};

/// The outside services of an executor. The executor receives them once, when it is made. All clones share the
/// services.
///
/// A run has further services: its `Turn` has the task, limits requests to the run's time, and stores the results of
/// steps.
#[derive(Clone)]
pub struct Outside {
    /// Other servers.
    pub http: Rc<dyn Http>,
    /// The secrets of the deployment. [`secret`](Self::secret) reads one secret, and reports a missing secret to
    /// operators.
    pub secrets: Rc<dyn Secrets>,
    /// The variables of the deployment. [`variable`](Self::variable) reads one variable, and reports a missing variable
    /// to operators.
    pub variables: Rc<dyn Variables>,
    /// Receives the observations for operators.
    pub observer: Rc<dyn Observer>,
    /// The agents that can be called by name.
    pub remotes: Rc<Remotes>,
    /// The MCP servers that can be called by name.
    pub mcp: Rc<McpServers>,
    /// The clock.
    pub clock: Rc<dyn Clock>,
    /// The slug of the agent that received these services, for the log; empty if there is no agent.
    pub agent: Rc<str>,
}

impl Outside {
    /// The same services, for the agent with this slug.
    #[must_use]
    pub fn for_agent(&self, slug: &str) -> Self {
        Self { agent: slug.into(), ..self.clone() }
    }

    /// The secret with this name, read from the deployment at each call. Never show the secret or write it to a log.
    ///
    /// # Errors
    ///
    /// If the secret is not set, is empty or blank. Operators receive [`Observation::ValueMissing`].
    pub fn secret(&self, name: &str) -> Result<Secret, NotSet> {
        let found = self.secrets.secret(name).filter(is_set);
        found.ok_or_else(|| self.missing(NotSet::secret(name)))
    }

    /// The variable with this name.
    ///
    /// # Errors
    ///
    /// If the variable is not set, is empty or blank. Operators receive [`Observation::ValueMissing`].
    pub fn variable(&self, name: &str) -> Result<String, NotSet> {
        let found = self.variables.variable(name).filter(|value| !value.trim().is_empty());
        found.ok_or_else(|| self.missing(NotSet::variable(name)))
    }

    /// The secret with this name, or else the variable. A missing value is not reported to operators.
    ///
    /// # Errors
    ///
    /// If neither is set.
    pub(crate) fn find_value(&self, name: &str) -> Result<Secret, NotSet> {
        let secret = self.secrets.secret(name).filter(is_set);
        let variable = || self.variables.variable(name).map(Secret::new).filter(is_set);
        secret.or_else(variable).ok_or_else(|| NotSet::value(name))
    }

    fn missing(&self, not_set: NotSet) -> NotSet {
        let agent = self.agent.as_ref();
        self.observer.observe(&Observation::ValueMissing { agent, missing: &not_set });
        not_set
    }
}

impl Values for Outside {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        self.find_value(name).map_err(|not_set| self.missing(not_set))
    }
}

fn is_set(value: &Secret) -> bool {
    !value.reveal().trim().is_empty()
}

/// The secrets of a deployment, each by its name (`npx a2a-edge wrangler secret put NAME`).
pub trait Secrets {
    /// The secret with this name; `None` if it is not set. Never show the secret or write it to a log.
    fn secret(&self, name: &str) -> Option<Secret>;
}

/// The variables of a deployment, each by its name (`[vars]` in wrangler.toml).
pub trait Variables {
    /// The variable with this name; `None` if it is not set.
    fn variable(&self, name: &str) -> Option<String>;
}
