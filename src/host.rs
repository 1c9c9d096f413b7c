//! The host of a Worker: the tools and executors that its agent files may name.

use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::executor::{AgentExecutor, Agents, Parts, Registry, Unreadable};
use crate::port::Outside;
use crate::twins::MemoryPlatform;
use a2a_agents::tool::Tool;
use a2a_agents::{AgentSource, CheckedExecutor, Misfit};

/// The tools and executors that a Worker registers for its agents. The agents themselves are data: the checker makes it of the
/// project's files, and the entry module of the Worker passes it to the engine.
///
/// ```
/// use a2a_edge::prelude::*;
///
/// /// Asks for something that it knows already; the answer stands in `[executor.quiz]`.
/// #[settings]
/// struct Quiz {
///     answer: String,
/// }
///
/// #[async_trait(?Send)]
/// impl AgentExecutor for Quiz {
///     async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
///         if turn.message.text() == self.answer {
///             events.complete(Some("right"))
///         } else {
///             events.require_input("what is it?")
///         }
///     }
/// }
///
/// fn host() -> Host {
///     Host::new().executor("quiz", |quiz: Quiz, _| Ok(quiz))
/// }
/// ```
#[derive(Default)]
pub struct Host {
    registry: Registry,
}

impl Host {
    /// A host without tools and executors of its own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an executor for agents of this `kind`. Its settings are read from the table `[executor.<kind>]` into the type
    /// `Settings`; [`NoSettings`](crate::executor::NoSettings) accepts an empty table, [`Table`](a2a_agents::Table) any table. An executor of the
    /// same kind is replaced.
    ///
    /// `make` is called once for each agent of the kind and instance of the Worker, before the first request. If it fails, or if
    /// the settings do not fit, that agent refuses messages (500), and the log contains the reason; other agents answer. `npm
    /// start`, `npm test` and [`check`](Self::check) report this. An executor with an invalid kind (see
    /// [`check_kind`](a2a_agents::check_kind)) is never used.
    #[must_use]
    pub fn executor<Settings: DeserializeOwned, E: AgentExecutor + 'static>(
        mut self,
        kind: impl Into<String>,
        make: impl Fn(Settings, &Outside) -> Result<E, Misfit> + 'static,
    ) -> Self {
        let make = move |executor: &CheckedExecutor, outside: &Outside| {
            let read = executor.table.read().and_then(|settings| make(settings, outside));
            let made: Rc<dyn AgentExecutor> =
                Rc::new(read.map_err(|misfit| executor.misfit_of_table(misfit))?);
            Ok(made)
        };
        self.registry.add_executor(kind.into(), Box::new(make));
        self
    }

    /// Adds a tool, which agent files name in `[executor.tools]` or `[executor.model]`. Its skill is joined to the cards of these
    /// agents when the Worker makes them. A tool of the same name is replaced.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.registry.add_tool(Rc::new(tool));
        self
    }

    /// Like [`tool`](Self::tool), for each tool of a list.
    #[must_use]
    pub fn tools(mut self, tools: Vec<Box<dyn Tool>>) -> Self {
        for tool in tools {
            self.registry.add_tool(Rc::from(tool));
        }
        self
    }

    /// The registered tools and executors.
    pub(crate) fn registry(self) -> Registry {
        self.registry
    }

    /// Checks that the executors of all agents of a source can be made, with no variables, secrets or other servers.
    ///
    /// # Errors
    ///
    /// If the agents cannot be read; or every agent whose executor cannot be made, with the reason and the place in its file.
    pub fn check(self, source: impl AgentSource + 'static) -> Result<(), Unreadable> {
        let parts = Parts {
            registry: Rc::new(self.registry()),
            is_development: true,
            ..Parts::of(MemoryPlatform::default().outside())
        };
        let agents = Agents::new(Box::new(source), parts, None)?;
        let unmade = agents.without_executor();
        let unmade = unmade.map(|(slug, misfit)| format!("the agent {slug}: {misfit}"));
        let unmade = unmade.collect::<Vec<_>>().join("\n");
        if unmade.is_empty() { Ok(()) } else { Err(Unreadable::of(unmade)) }
    }
}
