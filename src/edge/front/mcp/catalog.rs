//! The tools of an MCP server: one for each agent that the request may call, or for each of its skills, and those for tasks.

use super::access::{Admitted, Refusing, Scope};
use a2a::binding::discovery::at_origin;
use a2a::client::RemoteCard;
use a2a::dialect::Dialect;
use a2a_agents::McpTools;
use mcp::agents::{agent_tool, skill_tool, tool_name};
use mcp::model::{Annotations, Tool};

/// The tools of a request.
pub(super) struct Catalog<'a> {
    pub(super) scope: &'a Scope<'a>,
    /// The agent whose server it is; `None` for that of all agents.
    pub(super) slug: Option<&'a str>,
    /// Where this server is, as cards say it.
    pub(super) origin: &'a str,
}

/// The tool of a name.
pub(super) enum Found<'a> {
    /// An agent, or its skill of this id.
    Agent(&'a Admitted<'a>, Option<String>),
    /// A look at a task.
    GetTask,
    /// The end of a task.
    CancelTask,
    /// An agent that does not let the request in.
    Refused(&'a Refusing<'a>),
    /// None.
    Nothing,
}

impl<'a> Catalog<'a> {
    /// All tools, always in the same order.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let mut tools = Vec::new();
        for admitted in self.scope.admitted.iter().filter(|admitted| admitted.can_run()) {
            let Some(card) = self.card(admitted) else { continue };
            let slug = &admitted.agent.slug;
            match admitted.agent.mcp_tools {
                McpTools::Agent => tools.push(agent_tool(&tool_name(&[slug]), &card)),
                McpTools::Skills => {
                    tools.extend(card.skills.iter().map(|skill| {
                        skill_tool(&self.name_of_skill(slug, &skill.id), &card, skill)
                    }))
                }
                McpTools::None => {}
            }
        }
        tools.extend([get_task(), cancel_task()]);
        tools
    }

    /// The tool of a name.
    pub(super) fn find(&self, name: &str) -> Found<'a> {
        match name {
            GET_TASK => return Found::GetTask,
            CANCEL_TASK => return Found::CancelTask,
            _ => {}
        }
        for admitted in &self.scope.admitted {
            let slug = &admitted.agent.slug;
            match admitted.agent.mcp_tools {
                McpTools::Agent if tool_name(&[slug]) == name => {
                    return Found::Agent(admitted, None);
                }
                McpTools::Skills => {
                    let card = self.card(admitted);
                    let skills = card.into_iter().flat_map(|card| card.skills);
                    let mut skills =
                        skills.filter(|skill| self.name_of_skill(slug, &skill.id) == name);
                    if let Some(skill) = skills.next() {
                        return Found::Agent(admitted, Some(skill.id));
                    }
                }
                McpTools::Agent | McpTools::None => {}
            }
        }
        let refusing = self.scope.refusals.iter().find(|refusing| {
            let slug = &refusing.agent.slug;
            let is_whole = refusing.agent.mcp_tools == McpTools::Agent;
            is_whole && tool_name(&[slug]) == name
        });
        refusing.map_or(Found::Nothing, Found::Refused)
    }

    /// The card of an agent for the caller of the request.
    pub(super) fn card(&self, admitted: &Admitted<'_>) -> Option<RemoteCard> {
        let Admitted { agent, caller } = admitted;
        let cards = agent.cards();
        let own = cards.extended(caller, Dialect::V1).ok();
        let card = at_origin(own.as_deref().unwrap_or(&cards.card), self.origin);
        RemoteCard::parse(&card).ok()
    }

    /// What clients are told of the server, for models.
    pub(super) fn instructions(&self) -> String {
        "Each tool is an agent, or a skill of one. Say what is to be done in `message`. A result in the state \
         `input_required` has a question: call the tool again with its `task_id` and the answer. One in the state `working` is not \
         done: look again with `get_task`."
            .to_owned()
    }

    /// The name of the tool of a skill. At the server of one agent its slug need not be said.
    fn name_of_skill(&self, slug: &str, skill: &str) -> String {
        match self.slug {
            Some(_) if !OWN.contains(&skill) => tool_name(&[skill]),
            Some(_) | None => tool_name(&[slug, skill]),
        }
    }
}

fn get_task() -> Tool {
    let annotations =
        Annotations { read_only: Some(true), open_world: Some(false), ..Annotations::default() };
    task_tool(
        GET_TASK,
        "Look at a task",
        "Tells how a task of an agent gets on, and its result.",
        annotations,
    )
}

fn cancel_task() -> Tool {
    let annotations =
        Annotations { idempotent: Some(true), open_world: Some(false), ..Annotations::default() };
    task_tool(
        CANCEL_TASK,
        "Cancel a task",
        "Ends a task of an agent that is not done.",
        annotations,
    )
}

fn task_tool(name: &str, title: &str, description: &str, annotations: Annotations) -> Tool {
    Tool {
        name: name.to_owned(),
        title: Some(title.to_owned()),
        description: Some(description.to_owned()),
        // As text, since macros would make kilobytes of code of it.
        input_schema: serde_json::from_str(TASK).unwrap_or_default(),
        output_schema: None,
        annotations,
    }
}

const TASK: &str = r#"{"type": "object", "properties": {
    "task_id": {"type": "string", "description": "The task, as a result named it."},
    "agent": {"type": "string", "description": "The agent whose task it is, if it is known."}
    }, "required": ["task_id"]}"#;

const GET_TASK: &str = "get_task";
const CANCEL_TASK: &str = "cancel_task";

/// The names of the tools that are no agents.
const OWN: [&str; 4] = [GET_TASK, CANCEL_TASK, "discover_agent", "invoke_remote_agent"];
