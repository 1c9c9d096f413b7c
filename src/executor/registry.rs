//! What the executors of this Worker are made of: the kinds, and what its author has registered.

use std::rc::Rc;

use super::AgentExecutor;
use super::script::ScriptExecutor;
use super::tools::ToolsExecutor;
use crate::port::Outside;
use a2a_agents::tool::Tool;
use a2a_agents::{Misfit, ScriptTable, Table, ToolsTable};

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

    /// The executor of a kind, made from its table.
    ///
    /// # Errors
    ///
    /// If there is no such kind, tool or executor, or the table is not one of the kind. The text names what there is.
    pub fn make(
        &self,
        kind: &str,
        table: &Table,
        outside: &Outside,
    ) -> Result<Rc<dyn AgentExecutor>, Misfit> {
        if let Some((_, make)) = OWN.iter().find(|(known, _)| *known == kind) {
            return make(self, table, outside);
        }
        let Some((_, make)) = self.executors.iter().find(|(known, _)| *known == kind) else {
            let own = OWN.iter().map(|(known, _)| *known);
            let registered = self.executors.iter().map(|(known, _)| known.as_str());
            return Err(unknown("kind of executor", kind, own.chain(registered)));
        };
        make(table, outside)
            .map_err(|Misfit(problem)| Misfit(format!("[executor.{kind}] {problem}")))
    }

    fn tools(&self, table: &Table, outside: &Outside) -> Made {
        let ToolsTable { names, ask_missing } = table.read()?;
        let named = names.iter().map(|name| {
            let tool = self.tools.iter().find(|tool| tool.name() == name);
            let known = self.tools.iter().map(|tool| tool.name());
            tool.cloned().ok_or_else(|| unknown("tool", name, known))
        });
        let tools = named.collect::<Result<_, _>>()?;
        Ok(Rc::new(ToolsExecutor::new(tools, ask_missing, outside.clone())))
    }

    fn script(&self, table: &Table, _: &Outside) -> Made {
        let table: ScriptTable = table.read()?;
        Ok(Rc::new(ScriptExecutor::new(table)))
    }
}

type Made = Result<Rc<dyn AgentExecutor>, Misfit>;

/// The kinds that come with every Worker, each with its constructor.
const OWN: [(&str, Kind); 2] = [("tools", Registry::tools), ("script", Registry::script)];

type Kind = fn(&Registry, &Table, &Outside) -> Made;

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Misfit {
    let known = known.collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "none" } else { &known };
    Misfit(format!("there is no {what} {name:?}; there are: {known}"))
}
