//! What a Worker is made with: agents that the build has embedded, and the tools and executors that they name.

use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::executor::{AgentExecutor, Agents, Registry, Unreadable};
use crate::port::Outside;
use crate::twins::MemoryPlatform;
use a2a_agents::tool::Tool;
use a2a_agents::{Misfit, Table};

/// The agents of a Worker, and what they are made of.
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
    /// A host of the agents that the build script has embedded; [`embedded!`](crate::embedded) gives them.
    pub fn embedded(agents: &'static str) -> Self {
        Self { embedded: agents, registry: Registry::default() }
    }

    /// Adds an executor for agents of this `kind`, with the settings that stand in their table `[executor.<kind>]`.
    /// The type of the settings says what may stand there; [`NoSettings`](crate::executor::NoSettings) takes an empty
    /// table, [`Table`] anything. An executor of the same kind is replaced.
    ///
    /// `make` is called once for each agent of the kind and instance of the Worker, before the first request. Where it
    /// fails, or the settings do not fit, that agent refuses messages (500), and the log says why; other agents answer.
    /// `npm start`, `npm test` and [`check`](Self::check) find this. A name that is none (see [`check_kind`](a2a_agents::check_kind)) is never asked for.
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

    /// Adds a tool, which agent files name in `[executor.tools]`. The build script must know it, too, since its
    /// description is part of the card. A tool of the same name is replaced.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.registry.add_tool(Rc::new(tool));
        self
    }

    /// As [`tool`](Self::tool), for each of these: the list that the build script gets.
    #[must_use]
    pub fn tools(mut self, tools: Vec<Box<dyn Tool>>) -> Self {
        for tool in tools {
            self.registry.add_tool(Rc::from(tool));
        }
        self
    }

    /// Whether the executors of the agents that were embedded can be made, for a test of the Worker's own: with an outside that is
    /// empty. `npm start` and `npm test` ask the Worker that they serve for the same.
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
    /// As [`agents`](Self::agents); and if an executor cannot be made: every such agent, with the reason and the place in its file.
    pub fn check(&self) -> Result<(), Unreadable> {
        let outside = MemoryPlatform::default().outside();
        let agents = self.agents(None, &outside, true, None)?;
        let unmade = agents.without_executor();
        let unmade = unmade.map(|(slug, misfit)| format!("the agent {slug}: {misfit}"));
        let unmade = unmade.collect::<Vec<_>>().join("\n");
        if unmade.is_empty() { Ok(()) } else { Err(Unreadable::of(unmade)) }
    }

    /// The agents, ready to answer: those that were embedded, or those of `instead`, which is of the same form. Those
    /// for development only where `is_development`; with the one of slug `default` at `/` if there is one.
    ///
    /// # Errors
    ///
    /// If they cannot be read. An agent that names a tool or an executor that was not added is among them, and cannot
    /// run.
    pub fn agents(
        &self,
        instead: Option<&str>,
        outside: &Outside,
        is_development: bool,
        default: Option<&str>,
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
