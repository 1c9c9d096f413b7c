//! The tools of an MCP server: one for each agent that the request may call, or one for each of its skills; tools for tasks; and
//! tools for agents elsewhere.

use super::access::{Admitted, Refusing, Scope};
use super::address::Place;
use a2a::binding::discovery::at_origin;
use a2a::client::RemoteCard;
use a2a::dialect::Dialect;
use a2a::model::read_own;
use a2a_agents::McpTools;
use mcp::agents::{agent_tool, result_schema, skill_tool, tool_name};
use mcp::model::{Annotations, Tool};

/// The tools of a request.
pub(super) struct Catalog<'a> {
    pub(super) scope: &'a Scope<'a>,
    /// The agent of the server; `None` for the server of all agents.
    pub(super) slug: Option<&'a str>,
    /// The origin of this server, as in cards.
    pub(super) origin: &'a str,
    /// True if the request may name agents elsewhere.
    pub(super) may_call_out: bool,
}

/// The result of looking up the name of a tool.
pub(super) enum Found<'a> {
    /// An agent, or its skill with this id.
    Agent(&'a Admitted<'a>, Option<String>),
    /// The tool that returns a task.
    GetTask,
    /// The tool that cancels a task.
    CancelTask,
    /// The tool that deletes a task.
    DeleteTask,
    /// The tool that returns the card of an agent elsewhere.
    Discover,
    /// The tool that calls an agent elsewhere.
    Invoke,
    /// An agent that refuses the request.
    Refused(&'a Refusing<'a>),
    /// There is no such tool.
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
                McpTools::Skills => tools.extend(card.skills.iter().map(|skill| {
                    let name = self.name_of_skill(slug, &skill.id);
                    skill_tool(&name, &card, skill, admitted.input_schema(&skill.id))
                })),
                McpTools::None => {}
            }
        }
        let own = OWN.iter().filter(|own| self.may_call_out || !own.calls_out);
        tools.extend(own.map(OwnTool::tool));
        tools
    }

    /// The tool with this name.
    pub(super) fn find(&self, name: &str) -> Found<'a> {
        match name {
            "get_task" => return Found::GetTask,
            "cancel_task" => return Found::CancelTask,
            "delete_task" => return Found::DeleteTask,
            "discover_agent" if self.may_call_out => return Found::Discover,
            "invoke_remote_agent" if self.may_call_out => return Found::Invoke,
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

    /// The instructions of the server, which clients pass to models.
    pub(super) fn instructions(&self) -> &'static str {
        "Each tool is an agent, or a skill of one. Say what is to be done in `message`. A result in the state \
         `input_required` has a question: call the tool again with its `task_id` and the answer. One in the state `working` is not \
         done: look again with `get_task`."
    }

    /// The place of the agent with this slug.
    pub(super) fn place(&self, slug: &str) -> Place {
        Place { origin: self.origin.to_owned(), slug: slug.to_owned() }
    }

    /// The name of a skill's tool. At the server of one agent, the name does not contain the slug.
    fn name_of_skill(&self, slug: &str, skill: &str) -> String {
        match self.slug {
            Some(_) if OWN.iter().all(|own| own.name != skill) => tool_name(&[skill]),
            Some(_) | None => tool_name(&[slug, skill]),
        }
    }
}

/// A tool that is not an agent.
struct OwnTool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The properties of the tool's arguments and the required ones, as text: the macro `json!` would compile them into
    /// kilobytes of code.
    schema: &'static str,
    changes_nothing: bool,
    /// True if the tool calls agents elsewhere.
    calls_out: bool,
    /// True if the result is that of a task.
    tells_task: bool,
}

impl OwnTool {
    fn tool(&self) -> Tool {
        Tool {
            name: self.name.to_owned(),
            title: Some(self.title.to_owned()),
            description: Some(self.description.to_owned()),
            input_schema: read_own(self.schema).unwrap_or_default(),
            output_schema: self.tells_task.then(result_schema),
            annotations: Annotations {
                read_only: Some(self.changes_nothing),
                open_world: Some(self.calls_out),
                ..Annotations::default()
            },
        }
    }
}

const OWN: [OwnTool; 5] = [
    OwnTool {
        name: "get_task",
        title: "Look at a task",
        description: "Tells how a task of an agent gets on, and its result.",
        schema: TASK,
        changes_nothing: true,
        calls_out: false,
        tells_task: true,
    },
    OwnTool {
        name: "cancel_task",
        title: "Cancel a task",
        description: "Ends a task of an agent that is not done.",
        schema: TASK,
        changes_nothing: false,
        calls_out: false,
        tells_task: true,
    },
    OwnTool {
        name: "delete_task",
        title: "Delete a task",
        description: "Deletes a task of an agent that is done, with its messages and its result. With `force`, one that is not done is canceled first.",
        schema: DELETION,
        changes_nothing: false,
        calls_out: false,
        tells_task: false,
    },
    OwnTool {
        name: "discover_agent",
        title: "Discover an agent",
        description: "Tells what an A2A agent is and can do, by its card.",
        schema: DISCOVER,
        changes_nothing: true,
        calls_out: true,
        tells_task: false,
    },
    OwnTool {
        name: "invoke_remote_agent",
        title: "Call an agent",
        description: "Sends a message to an A2A agent, waits for its answer or its question, and tells it.",
        schema: INVOKE,
        changes_nothing: false,
        calls_out: true,
        tells_task: false,
    },
];

const TASK: &str = r#"{"type": "object", "properties": {
    "task_id": {"type": "string", "description": "The task, as a result named it."},
    "agent": {"type": "string", "description": "The agent whose task it is, if it is known."}
    }, "required": ["task_id"]}"#;

const DELETION: &str = r#"{"type": "object", "properties": {
    "task_id": {"type": "string", "description": "The task, as a result named it."},
    "agent": {"type": "string", "description": "The agent whose task it is, if it is known."},
    "force": {"type": "boolean", "description": "Whether to cancel the task first if it is not done."}
    }, "required": ["task_id"]}"#;

const DISCOVER: &str = r#"{"type": "object", "properties": {
    "url": {"type": "string", "description": "The URL of the agent or of its card, or the name of an agent that is known here."}
    }, "required": ["url"]}"#;

const INVOKE: &str = r#"{"type": "object", "properties": {
    "url": {"type": "string", "description": "The URL of the agent or of its card, or the name of an agent that is known here."},
    "message": {"type": "string", "description": "What the agent is to do, with all that it needs to know; or the answer to its question."},
    "skill": {"type": "string", "description": "The id of the skill that is meant."},
    "task_id": {"type": "string", "description": "The task to go on with, as an earlier result named it, to answer its question."},
    "context_id": {"type": "string", "description": "The conversation to go on with in a new task."},
    "timeout": {"type": "integer", "minimum": 1, "maximum": 300000, "description": "How long to wait, in milliseconds; then the task is canceled."}
    }, "required": ["url", "message"]}"#;
