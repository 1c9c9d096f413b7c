//! What executors and tools get of the outside when they are made.

use std::rc::Rc;

use super::{Clock, Http, Observation, Observer};
use crate::mcp::McpServers;
use crate::remotes::Remotes;
use a2a::model::Secret;
use a2a_agents::{NotSet, Values};

/// The outside as an executor gets it, once, when it is made. Clones share it.
///
/// A run has more: its turn knows the task, fetches within its bounds, and keeps the
/// results of steps.
#[derive(Clone)]
pub struct Outside {
    /// Other servers.
    pub http: Rc<dyn Http>,
    /// The secrets of the deployment. [`secret`](Self::secret) reads one, too, and tells operators when it is missing.
    pub secrets: Rc<dyn Secrets>,
    /// The variables of the deployment. [`variable`](Self::variable) reads one, too, and tells operators when it is
    /// missing.
    pub variables: Rc<dyn Variables>,
    /// Who is told what operators want to know.
    pub observer: Rc<dyn Observer>,
    /// The agents that can be called by name.
    pub remotes: Rc<Remotes>,
    /// The MCP servers that can be called by name.
    pub mcp: Rc<McpServers>,
    /// What time it is.
    pub clock: Rc<dyn Clock>,
    /// The slug of the agent that it was given to, for the log; empty if none.
    pub agent: Rc<str>,
}

impl Outside {
    /// The same outside, for the agent of this slug.
    #[must_use]
    pub fn for_agent(&self, slug: &str) -> Self {
        Self { agent: slug.into(), ..self.clone() }
    }

    /// The secret of this name, read anew each time. Never show it or write it to a log.
    ///
    /// # Errors
    ///
    /// If it is not set, or is empty or blank; operators are told.
    pub fn secret(&self, name: &str) -> Result<Secret, NotSet> {
        let found = self.secrets.secret(name).filter(is_set);
        found.ok_or_else(|| self.missing(NotSet::secret(name)))
    }

    /// The variable of this name.
    ///
    /// # Errors
    ///
    /// If it is not set, or is empty or blank; operators are told.
    pub fn variable(&self, name: &str) -> Result<String, NotSet> {
        let found = self.variables.variable(name).filter(|value| !value.trim().is_empty());
        found.ok_or_else(|| self.missing(NotSet::variable(name)))
    }

    /// The secret or else the variable of this name. Nobody is told if it is not set.
    ///
    /// # Errors
    ///
    /// If there is neither.
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
    /// The secret of this name; `None` if it is not set. Never show it or write it to a log.
    fn secret(&self, name: &str) -> Option<Secret>;
}

/// The variables of a deployment, each by its name (`[vars]` in wrangler.toml).
pub trait Variables {
    /// The variable of this name; `None` if it is not set.
    fn variable(&self, name: &str) -> Option<String>;
}
