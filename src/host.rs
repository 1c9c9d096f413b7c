//! What a Worker is made with: agents that the build has embedded, and the tools and executors that they name.

use std::rc::Rc;

use crate::executor::{AgentExecutor, Agents, Registry, Unreadable};
use crate::port::Outside;
use crate::port::memory::MemoryPlatform;
use a2a_agents::tool::Tool;
use a2a_agents::{Misfit, Table};

/// The agents of a Worker, and what they are made of.
///
/// ```
/// use a2a_edge::prelude::*;
///
/// /// Asks for something that it knows already.
/// struct Quiz {
///     answer: String,
/// }
///
/// #[async_trait(?Send)]
/// impl AgentExecutor for Quiz {
///     async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
///         match turn.message.text() == self.answer {
///             true => events.complete(Some("right")),
///             false => events.require_input("what is it?"),
///         }
///     }
/// }
///
/// fn host() -> Host {
///     // In a Worker: a2a_edge::embedded!()
///     let agents = r#"{"built_ms": 0, "agents": [{
///         "slug": "quiz", "default": true, "development": false, "card": "{}",
///         "capabilities": {"streaming": true, "push_notifications": false, "extended_agent_card": false},
///         "executor": {"kind": "rust", "table": {"name": "quiz", "answer": "7"}, "run": {}}}]}"#;
///     Host::embedded(agents).executor("quiz", |table, _| {
///         #[derive(serde::Deserialize)]
///         #[serde(deny_unknown_fields)]
///         struct Settings {
///             answer: String,
///         }
///         let Settings { answer } = table.read()?;
///         Ok(Quiz { answer })
///     })
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

    /// Adds an executor, which agent files name by `kind = "rust"` and `name` in `[executor.rust]`. What else
    /// stands in that table is what `make` gets. An executor of the same name is replaced.
    ///
    /// It is made once per instance of the Worker, before the first request. If it does not take the table, every
    /// request is answered by an error, and the log says why.
    #[must_use]
    pub fn executor<E: AgentExecutor + 'static>(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Table, &Outside) -> Result<E, Misfit> + 'static,
    ) -> Self {
        let make = move |table: &Table, outside: &Outside| {
            let made: Rc<dyn AgentExecutor> = Rc::new(make(table, outside)?);
            Ok(made)
        };
        self.registry.add_executor(name.into(), Box::new(make));
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

    /// Whether the agents that were embedded can be served, for a test of the Worker's own. It makes their
    /// executors, with an outside that is empty.
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
    /// As [`agents`](Self::agents).
    pub fn check(&self) -> Result<(), Unreadable> {
        let outside = MemoryPlatform::default().outside();
        self.agents(None, &outside, true, None).map(|_| ())
    }

    /// The agents, ready to answer: those that were embedded, or those of `instead`, which is of the same form. Those
    /// for development only where `is_development`; with the one of slug `default` at `/` if there is one.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or name a tool or an executor that was not added.
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
