//! What executors and tools get of the outside when they are made.

use std::collections::BTreeMap;
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

/// The secrets of a deployment, each by its name (`npx wrangler secret put NAME`).
pub trait Secrets {
    /// The secret of this name; `None` if it is not set. Never show it or write it to a log.
    fn secret(&self, name: &str) -> Option<Secret>;
}

/// The variables of a deployment, each by its name (`[vars]` in wrangler.toml).
pub trait Variables {
    /// The variable of this name; `None` if it is not set.
    fn variable(&self, name: &str) -> Option<String>;
}

/// For tests.
impl Secrets for BTreeMap<String, Secret> {
    fn secret(&self, name: &str) -> Option<Secret> {
        self.get(name).cloned()
    }
}

/// For tests.
impl Variables for BTreeMap<String, String> {
    fn variable(&self, name: &str) -> Option<String> {
        self.get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Severity;
    use crate::port::memory::MemoryPlatform;

    #[test]
    fn what_is_not_set_or_empty_is_missing_and_operators_are_told() {
        let platform = MemoryPlatform::default();
        let secrets = [("KEY", "k"), ("EMPTY", ""), ("BLANK", " \n"), ("BOTH", "secret")];
        let variables = [("PLACE", "p"), ("EMPTY", "filled"), ("BOTH", "variable")];
        let secret = |(name, value): (&str, &str)| (name.to_owned(), Secret::new(value));
        let variable = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let outside = Outside {
            secrets: Rc::new(BTreeMap::from(secrets.map(secret))),
            variables: Rc::new(BTreeMap::from(variables.map(variable))),
            ..platform.outside()
        };
        let outside = outside.for_agent("demo");
        assert_eq!(outside.secret("KEY"), Ok(Secret::new("k")));
        assert_eq!(outside.variable("PLACE"), Ok("p".to_owned()));
        for (name, value) in [("KEY", "k"), ("PLACE", "p"), ("EMPTY", "filled"), ("BOTH", "secret")]
        {
            assert_eq!(outside.value(name), Ok(Secret::new(value)), "{name}");
        }
        assert!(platform.errors().is_empty());
        for name in ["EMPTY", "BLANK", "NONE", "PLACE"] {
            assert_eq!(outside.secret(name), Err(NotSet::secret(name)));
        }
        assert_eq!(outside.variable("KEY"), Err(NotSet::variable("KEY")));
        assert_eq!(outside.value("BLANK"), Err(NotSet::value("BLANK")));
        let told = platform.observed(Severity::Error);
        assert_eq!(told.len(), 6);
        assert_eq!(
            told[5],
            "the agent demo: the secret or variable BLANK is not set in this deployment, or is empty"
        );
    }
}
