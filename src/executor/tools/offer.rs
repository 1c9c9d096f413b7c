//! The tools of an agent, and which of them a caller may use.

use std::rc::Rc;

use serde_json::Value;

use crate::auth::Caller;
use crate::executor::call::mcp::McpTool;
use a2a_agents::tool::{Tool, schema_problems};
use a2a_agents::{CheckedAgent, HttpTool, Misfit, RestrictedSkill, no_such};

/// The tools of an agent, in the order in which it offers them.
pub(in crate::executor) struct Offer {
    tools: Vec<Rc<dyn Tool>>,
    restricted: Vec<RestrictedSkill>,
}

/// A tool of an agent, as far as messages that call it are concerned.
pub(super) trait Named {
    /// The name by which the tool is called.
    fn name(&self) -> &str;

    /// The description of the tool.
    fn description(&self) -> &str;

    /// The JSON schema of the tool's arguments.
    fn schema(&self) -> &Value;

    /// The schema by which this Worker checks arguments before a call; `None` if only the tool's server checks them.
    fn checked_schema(&self) -> Option<&Value>;

    /// True if this is the tool's name together with the name of its server.
    fn has_full_name(&self, name: &str) -> bool;
}

/// A tool of an agent with MCP servers.
#[derive(Clone)]
pub(super) enum Callable {
    /// A tool of this Worker.
    Own(Rc<dyn Tool>),
    /// A tool of an MCP server.
    Mcp(Rc<McpTool>),
}

impl Offer {
    /// The tools of an agent: first the tools in `names`, which are the agent's own or `registered` tools; then the agent's
    /// other own tools.
    ///
    /// # Errors
    ///
    /// If a named tool does not exist, one of the agent's own tools cannot be made, or a registered tool has the name of one of
    /// them or a schema that cannot be checked. `key` is that of the names in the table of the executor.
    pub(in crate::executor) fn of(
        agent: &CheckedAgent,
        key: &str,
        names: &[String],
        registered: &[Rc<dyn Tool>],
    ) -> Result<Self, Misfit> {
        let made = agent
            .tools
            .iter()
            .map(|tool| HttpTool::new(tool).map(|tool| -> Rc<dyn Tool> { Rc::new(tool) }));
        let http = made.collect::<Result<Vec<_>, _>>()?;
        let executor = &agent.executor;
        let named = names.iter().enumerate().map(|(index, name)| {
            let misfit = |fix: &str| executor.misfit_of_key(&format!("{key}[{index}]"), fix);
            let find = |tools: &[Rc<dyn Tool>]| tools.iter().find(|tool| tool.name() == name).cloned();
            match (find(&http), find(registered)) {
                (Some(tool), None) => Ok(tool),
                (None, Some(tool)) => match schema_problems(tool.as_ref()).first() {
                    Some(problem) => Err(misfit(problem)),
                    None => Ok(tool),
                },
                (Some(_), Some(_)) => Err(misfit(&format!(
                    "{name:?} is the name of a tool in a file and of a tool that the Worker registers; rename one of the two"
                ))),
                (None, None) => {
                    let known = registered.iter().chain(&http).map(|tool| tool.name());
                    Err(misfit(&no_such("tool", name, known)))
                }
            }
        });
        let mut tools = named.collect::<Result<Vec<_>, _>>()?;
        let is_named = |tool: &&Rc<dyn Tool>| names.iter().any(|name| name == tool.name());
        tools.extend(http.iter().filter(|tool| !is_named(tool)).cloned());
        Ok(Self { tools, restricted: agent.restricted.clone() })
    }

    /// The tools of this Worker that the caller may use. For this caller, the other tools do not exist.
    pub(in crate::executor) fn own(&self, caller: &Caller) -> Vec<Rc<dyn Tool>> {
        self.tools.iter().filter(|tool| self.allows(caller, tool.name())).cloned().collect()
    }

    /// The tools of this Worker and of these MCP tools that the caller may use.
    pub(super) fn with_mcp(&self, caller: &Caller, tools: Vec<McpTool>) -> Vec<Callable> {
        let own = self.own(caller).into_iter().map(Callable::Own);
        let mcp = self.usable(caller, tools).into_iter();
        own.chain(mcp.map(|tool| Callable::Mcp(Rc::new(tool)))).collect()
    }

    /// The given MCP tools that a caller may use. A restriction of a tool's short name applies to the tools with this name
    /// of all servers, so that no server can lift the restriction by offering a tool with the same name.
    pub(super) fn usable(&self, caller: &Caller, tools: Vec<McpTool>) -> Vec<McpTool> {
        let may_use = |tool: &McpTool| {
            self.allows(caller, &tool.tool.name) && self.allows(caller, &tool.full_name())
        };
        tools.into_iter().filter(may_use).collect()
    }

    /// The names of the tools of this Worker.
    pub(super) fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name()).collect()
    }

    /// The schema of the arguments of a tool of this Worker.
    pub(super) fn schema(&self, name: &str) -> Option<&Value> {
        self.tools.iter().find(|tool| tool.name() == name).map(|tool| tool.input_schema())
    }

    fn allows(&self, caller: &Caller, id: &str) -> bool {
        let mut skills = self.restricted.iter().filter(|skill| skill.id() == id);
        skills.all(|skill| skill.is_for(|permission| caller.may(permission)))
    }
}

impl McpTool {
    /// The name of the tool with its server: `server.name`.
    fn full_name(&self) -> String {
        format!("{}.{}", self.server, self.tool.name)
    }
}

impl Named for Rc<dyn Tool> {
    fn name(&self) -> &str {
        self.as_ref().name()
    }

    fn description(&self) -> &str {
        self.as_ref().description()
    }

    fn schema(&self) -> &Value {
        self.input_schema()
    }

    fn checked_schema(&self) -> Option<&Value> {
        Some(self.input_schema())
    }

    fn has_full_name(&self, _: &str) -> bool {
        false
    }
}

impl Named for Rc<McpTool> {
    fn name(&self) -> &str {
        &self.id
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.tool.input_schema
    }

    fn checked_schema(&self) -> Option<&Value> {
        None
    }

    fn has_full_name(&self, name: &str) -> bool {
        name == self.full_name()
    }
}

impl Callable {
    fn named(&self) -> &dyn Named {
        match self {
            Self::Own(tool) => tool,
            Self::Mcp(tool) => tool,
        }
    }
}

impl Named for Callable {
    fn name(&self) -> &str {
        self.named().name()
    }

    fn description(&self) -> &str {
        self.named().description()
    }

    fn schema(&self) -> &Value {
        self.named().schema()
    }

    fn checked_schema(&self) -> Option<&Value> {
        self.named().checked_schema()
    }

    fn has_full_name(&self, name: &str) -> bool {
        self.named().has_full_name(name)
    }
}
