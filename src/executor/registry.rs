//! The executors and tools that agent files may name: the built-in kinds, and those that the Worker's author has
//! registered.

use std::rc::Rc;

use super::AgentExecutor;
use super::{http, model, remote, script, tools};
use crate::port::Outside;
use a2a_agents::tool::Tool;
use a2a_agents::{CheckedAgent, CheckedExecutor, ExecutorKind, Misfit, no_such};

/// Makes an executor from its settings in an agent file.
pub type Constructor = dyn Fn(&CheckedExecutor, &Outside) -> Result<Rc<dyn AgentExecutor>, Misfit>;

/// The tools and the executors that agent files may name.
#[derive(Default)]
pub struct Registry {
    executors: Vec<(String, Box<Constructor>)>,
    tools: Vec<Rc<dyn Tool>>,
}

impl Registry {
    /// Registers an executor for agents of this kind, and replaces an earlier executor of the kind.
    pub fn add_executor(&mut self, kind: String, constructor: Box<Constructor>) {
        self.executors.retain(|(known, _)| *known != kind);
        self.executors.push((kind, constructor));
    }

    /// Registers a tool, and replaces an earlier tool of the same name.
    pub fn add_tool(&mut self, tool: Rc<dyn Tool>) {
        self.tools.retain(|known| known.name() != tool.name());
        self.tools.push(tool);
    }

    /// The names of the kinds that the Worker has registered.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.executors.iter().map(|(kind, _)| kind.as_str())
    }

    /// The tools that the Worker has registered.
    pub fn tools(&self) -> &[Rc<dyn Tool>] {
        &self.tools
    }

    /// An agent with the skills of the registered tools that its file names.
    ///
    /// # Errors
    ///
    /// For a card that the checker did not make.
    pub(super) fn join(&self, agent: CheckedAgent) -> Result<CheckedAgent, Misfit> {
        agent.join(&self.tools)
    }

    /// The executor of an agent.
    ///
    /// # Errors
    ///
    /// If the kind, a tool or an executor does not exist, or the table does not fit the kind. The text lists the
    /// existing ones.
    pub fn make(
        &self,
        agent: &CheckedAgent,
        outside: &Outside,
    ) -> Result<Rc<dyn AgentExecutor>, Misfit> {
        let kind = &agent.executor.kind;
        if let Some(own) = ExecutorKind::named(kind) {
            return constructor_of(own)(agent, &self.tools);
        }
        let Some((_, make)) = self.executors.iter().find(|(known, _)| known == kind) else {
            let mut known: Vec<&str> = ExecutorKind::names().collect();
            known.extend(self.executors.iter().map(|(known, _)| known.as_str()));
            let misfit = Misfit(no_such("kind of executor", kind, known));
            return Err(agent.executor.misfit_of_kind(misfit));
        };
        make(&agent.executor, outside)
    }
}

/// The constructor of a built-in kind. Its arguments are the agent and the tools that the Worker has registered.
fn constructor_of(kind: ExecutorKind) -> OwnConstructor {
    match kind {
        ExecutorKind::Tools => tools::make,
        ExecutorKind::Script => script::make,
        ExecutorKind::Remote => remote::make,
        ExecutorKind::Http => http::make,
        ExecutorKind::Model => model::make,
    }
}

type OwnConstructor = fn(&CheckedAgent, &[Rc<dyn Tool>]) -> Result<Rc<dyn AgentExecutor>, Misfit>;
