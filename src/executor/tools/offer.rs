//! The tools of an agent, and which of them a caller may use.

use std::rc::Rc;

use serde_json::Value;

use crate::auth::Caller;
use crate::executor::call::mcp::McpTool;
use a2a_agents::tool::Tool;
use a2a_agents::{EmbeddedAgent, HttpTool, Misfit, RestrictedSkill, no_such};

/// The tools of an agent, in the order in which it offers them.
pub(in crate::executor) struct Offer {
    tools: Vec<Rc<dyn Tool>>,
    restricted: Vec<RestrictedSkill>,
}

/// A tool that a turn may call.
#[derive(Clone)]
pub(super) enum Callable {
    /// One of this Worker.
    Own(Rc<dyn Tool>),
    /// One of an MCP server.
    Mcp(Rc<McpTool>),
}

impl Offer {
    /// The tools that an agent names, of its own and of those that the Worker has `registered`, and then the others of its own.
    ///
    /// # Errors
    ///
    /// If there is no tool of a name, or one of its own cannot be made.
    pub(in crate::executor) fn of(
        agent: &EmbeddedAgent,
        names: &[String],
        registered: &[Rc<dyn Tool>],
    ) -> Result<Self, Misfit> {
        let made = agent
            .tools
            .iter()
            .map(|tool| HttpTool::new(tool).map(|tool| -> Rc<dyn Tool> { Rc::new(tool) }));
        let http = made.collect::<Result<Vec<_>, _>>()?;
        let known = || registered.iter().chain(&http);
        let named = names.iter().map(|name| {
            let tool = known().find(|tool| tool.name() == name).cloned();
            tool.ok_or_else(|| Misfit(no_such("tool", name, known().map(|tool| tool.name()))))
        });
        let mut tools = named.collect::<Result<Vec<_>, _>>()?;
        let is_named = |tool: &&Rc<dyn Tool>| names.iter().any(|name| name == tool.name());
        tools.extend(http.iter().filter(|tool| !is_named(tool)).cloned());
        Ok(Self { tools, restricted: agent.restricted.clone() })
    }

    /// The tools of this Worker that a caller may use. To it there are no others.
    pub(super) fn to(&self, caller: &Caller) -> Vec<Callable> {
        self.own(caller).into_iter().map(Callable::Own).collect()
    }

    /// The same, as tools.
    pub(in crate::executor) fn own(&self, caller: &Caller) -> Vec<Rc<dyn Tool>> {
        self.tools.iter().filter(|tool| self.allows(caller, tool.name())).cloned().collect()
    }

    /// Those of the tools of MCP servers that a caller may use. What is said about a name holds for the tools of all servers
    /// that have it, so that no server takes it away from another one's tool.
    pub(super) fn mcp_to(&self, caller: &Caller, tools: Vec<McpTool>) -> Vec<Callable> {
        let tools = self.usable(caller, tools).into_iter();
        tools.map(|tool| Callable::Mcp(Rc::new(tool))).collect()
    }

    /// The same, as tools.
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
    /// `server.name`.
    fn full_name(&self) -> String {
        format!("{}.{}", self.server, self.tool.name)
    }
}

impl Callable {
    /// By which it is called.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Own(tool) => tool.name(),
            Self::Mcp(tool) => &tool.id,
        }
    }

    /// What it does.
    pub(super) fn description(&self) -> &str {
        match self {
            Self::Own(tool) => tool.description(),
            Self::Mcp(tool) => &tool.description,
        }
    }

    /// The JSON schema of its arguments.
    pub(super) fn schema(&self) -> &Value {
        match self {
            Self::Own(tool) => tool.input_schema(),
            Self::Mcp(tool) => &tool.tool.input_schema,
        }
    }

    /// Whether this is its name with that of its server.
    pub(super) fn has_full_name(&self, name: &str) -> bool {
        match self {
            Self::Own(_) => false,
            Self::Mcp(tool) => name == tool.full_name(),
        }
    }
}
