//! The host of a Worker: the agents that the build has embedded, and the tools and executors that they name.

use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::executor::{AgentExecutor, Agents, Registry, Unreadable};
use crate::port::Outside;
use crate::twins::MemoryPlatform;
use a2a_agents::tool::Tool;
use a2a_agents::{Misfit, Slug, Table};

/// The agents of a Worker, with their tools and executors.
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
///     // In a Worker: a2a_edge::embedded!()
///     let agents = r#"{"built_ms": 0, "agents": [{
///         "slug": "quiz", "default": true, "development": false, "card": "{}",
///         "capabilities": {"streaming": true, "push_notifications": false, "extended_agent_card": false},
///         "executor": {"kind": "quiz", "table": {"answer": "7"}, "run": {}}}]}"#;
///     Host::embedded(agents).executor("quiz", |quiz: Quiz, _| Ok(quiz))
/// }
///
/// host().check().unwrap();
/// ```
pub struct Host {
    embedded: &'static str,
    registry: Registry,
}

impl Host {
    /// A host with the agents that the build script has embedded; [`embedded!`](crate::embedded) returns them.
    pub fn embedded(agents: &'static str) -> Self {
        Self { embedded: agents, registry: Registry::default() }
    }

    /// Adds an executor for agents of this `kind`. Its settings are read from the table `[executor.<kind>]` into the type
    /// `Settings`; [`NoSettings`](crate::executor::NoSettings) accepts an empty table, [`Table`] any table. An executor of the
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
        let make = move |table: &Table, outside: &Outside| {
            let made: Rc<dyn AgentExecutor> = Rc::new(make(table.read()?, outside)?);
            Ok(made)
        };
        self.registry.add_executor(kind.into(), Box::new(make));
        self
    }

    /// Adds a tool, which agent files name in `[executor.tools]`. The build script needs the tool, too, since its description is
    /// part of the card. A tool of the same name is replaced.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.registry.add_tool(Rc::new(tool));
        self
    }

    /// Like [`tool`](Self::tool), for each tool of the list that the build script gets.
    #[must_use]
    pub fn tools(mut self, tools: Vec<Box<dyn Tool>>) -> Self {
        for tool in tools {
            self.registry.add_tool(Rc::from(tool));
        }
        self
    }

    /// Checks that the executors of all embedded agents can be created, for a test of the Worker itself: with no variables,
    /// secrets or other servers. `npm start` and `npm test` request the same check from the Worker that they serve.
    ///
    /// ```no_run
    /// # fn host() -> a2a_edge::Host { a2a_edge::Host::embedded("") }
    /// #[test]
    /// fn every_agent_can_be_served() {
    ///     host().check().unwrap();
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Like [`agents`](Self::agents); also if an executor cannot be created: lists every such agent, with the reason and the
    /// place in its file.
    pub fn check(&self) -> Result<(), Unreadable> {
        let outside = MemoryPlatform::default().outside();
        let agents = self.agents(None, &outside, true, None)?;
        let unmade = agents.without_executor();
        let unmade = unmade.map(|(slug, misfit)| format!("the agent {slug}: {misfit}"));
        let unmade = unmade.collect::<Vec<_>>().join("\n");
        if unmade.is_empty() { Ok(()) } else { Err(Unreadable::of(unmade)) }
    }

    /// The agents, ready to answer: the embedded agents, or those in `instead`, which has the same form. Agents for development
    /// are included only if `is_development`. The agent with the slug `default`, if there is one, also answers at `/`.
    ///
    /// # Errors
    ///
    /// If the agents cannot be read. An agent that names an unknown tool or executor is not an error here: it is included, but
    /// cannot run.
    pub fn agents(
        &self,
        instead: Option<&str>,
        outside: &Outside,
        is_development: bool,
        default: Option<&Slug>,
    ) -> Result<Agents, Unreadable> {
        let text = instead.unwrap_or(self.embedded);
        Agents::read(text, &self.registry, outside, is_development, default)
    }
}

/// The agents that the build script of this crate has embedded, for [`Host::embedded`].
#[macro_export]
macro_rules! embedded {
    () => {
        include_str!(concat!(env!("OUT_DIR"), "/agents.json"))
    };
}
