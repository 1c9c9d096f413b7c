//! What the executors of this Worker are made of: the kinds, and what its author has registered.

use std::rc::Rc;

use super::AgentExecutor;
use super::http::HttpExecutor;
use super::model::ModelExecutor;
use super::remote::RemoteExecutor;
use super::script::ScriptExecutor;
use super::tools::{McpOffer, Offer, ToolsExecutor};
use crate::port::Outside;
use a2a_agents::tool::Tool;
use a2a_agents::{
    EmbeddedAgent, EmbeddedExecutor, HttpTable, HttpTool, Misfit, ModelSettings, RemoteTable,
    ScriptTable, Table, ToolsTable, closest,
};

/// Makes an executor from its table in an agent file.
pub type Constructor = dyn Fn(&Table, &Outside) -> Result<Rc<dyn AgentExecutor>, Misfit>;

/// The tools and the executors that agent files may name.
#[derive(Default)]
pub struct Registry {
    executors: Vec<(String, Box<Constructor>)>,
    tools: Vec<Rc<dyn Tool>>,
}

impl Registry {
    /// Registers an executor for agents of this kind, in place of one of the same name.
    pub fn add_executor(&mut self, kind: String, constructor: Box<Constructor>) {
        self.executors.retain(|(known, _)| *known != kind);
        self.executors.push((kind, constructor));
    }

    /// Registers a tool, in place of one of the same name.
    pub fn add_tool(&mut self, tool: Rc<dyn Tool>) {
        self.tools.retain(|known| known.name() != tool.name());
        self.tools.push(tool);
    }

    /// The executor of an agent.
    ///
    /// # Errors
    ///
    /// If there is no such kind, tool or executor, or the table is not one of the kind. The text names what there is.
    pub fn make(
        &self,
        agent: &EmbeddedAgent,
        outside: &Outside,
    ) -> Result<Rc<dyn AgentExecutor>, Misfit> {
        let EmbeddedExecutor { kind, table, .. } = &agent.executor;
        if let Some((_, make)) = OWN.iter().find(|(known, _)| known == kind) {
            return make(self, agent);
        }
        let Some((_, make)) = self.executors.iter().find(|(known, _)| known == kind) else {
            let own = OWN.iter().map(|(known, _)| *known);
            let registered = self.executors.iter().map(|(known, _)| known.as_str());
            let misfit = unknown("kind of executor", kind, own.chain(registered));
            return Err(agent.executor.misfit_of_kind(misfit));
        };
        make(table, outside).map_err(|misfit| agent.executor.misfit_of_table(misfit))
    }

    fn tools(&self, agent: &EmbeddedAgent) -> Made {
        let ToolsTable { names, ask_missing, mcp } = agent.executor.table.read()?;
        let offer = self.offer(agent, &names)?;
        let mcp = (!mcp.is_empty()).then(|| McpOffer::new(mcp));
        Ok(Rc::new(ToolsExecutor::new(offer, mcp, ask_missing)))
    }

    /// The tools that an agent names, and then its own.
    fn offer(&self, agent: &EmbeddedAgent, names: &[String]) -> Result<Offer, Misfit> {
        let made = agent
            .tools
            .iter()
            .map(|tool| HttpTool::new(tool).map(|tool| -> Rc<dyn Tool> { Rc::new(tool) }));
        let http = made.collect::<Result<Vec<_>, _>>()?;
        let known = || self.tools.iter().chain(&http);
        let named = names.iter().map(|name| {
            let tool = known().find(|tool| tool.name() == name);
            tool.cloned().ok_or_else(|| unknown("tool", name, known().map(|tool| tool.name())))
        });
        let mut tools = named.collect::<Result<Vec<_>, _>>()?;
        let is_named = |tool: &&Rc<dyn Tool>| names.iter().any(|name| name == tool.name());
        tools.extend(http.iter().filter(|tool| !is_named(tool)).cloned());
        Ok(Offer::new(tools, agent.restricted.clone()))
    }

    fn model(&self, agent: &EmbeddedAgent) -> Made {
        let settings = ModelSettings::of(&agent.executor.table)?;
        let offer = self.offer(agent, &settings.tools)?;
        let mcp = (!settings.mcp.is_empty()).then(|| McpOffer::new(settings.mcp.clone()));
        Ok(Rc::new(ModelExecutor::new(settings, offer, mcp)))
    }

    fn script(&self, agent: &EmbeddedAgent) -> Made {
        let table: ScriptTable = agent.executor.table.read()?;
        Ok(Rc::new(ScriptExecutor::new(table)))
    }

    fn remote(&self, agent: &EmbeddedAgent) -> Made {
        let table: RemoteTable = agent.executor.table.read()?;
        Ok(Rc::new(RemoteExecutor::of(table)))
    }

    fn http(&self, agent: &EmbeddedAgent) -> Made {
        let table: HttpTable = agent.executor.table.read()?;
        Ok(Rc::new(HttpExecutor::new(table, &agent.executor.run)))
    }
}

type Made = Result<Rc<dyn AgentExecutor>, Misfit>;

/// The kinds that come with every Worker, each with its constructor.
const OWN: [(&str, Kind); 5] = [
    ("tools", Registry::tools),
    ("script", Registry::script),
    ("remote", Registry::remote),
    ("http", Registry::http),
    ("model", Registry::model),
];

type Kind = fn(&Registry, &EmbeddedAgent) -> Made;

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Misfit {
    let known = known.collect::<Vec<_>>();
    let meant = closest(name, known.iter().copied());
    let meant = meant.map(|meant| format!(", did you mean {meant:?}?")).unwrap_or_default();
    let listed = known.join(", ");
    let listed = if known.is_empty() { "none" } else { &listed };
    Misfit(format!("there is no {what} {name:?}{meant}; there are: {listed}"))
}
