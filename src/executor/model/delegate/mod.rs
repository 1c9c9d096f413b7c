//! Other agents as tools of a model: a call of such a tool is a task of the other agent, whose outcome is told in a line.
//!
//! A delegation is durable. The id of its message follows from the turn and the call, a step keeps what leads to the task before
//! it is waited for, and the call's own step keeps its outcome. So an attempt that resumes goes on with the tasks that were begun, and
//! begins none twice. What a coordinator has delegated stands in its steps alone; [`ledger`] reads them.

mod call;
mod cancel;
mod ledger;
mod outcome;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::future::{Either, join_all, select};
use serde_json::{Value, json};

use super::super::{ExecutorError, StepStart, Turn};
use a2a::client::{Client, RemoteCard, build_coordinator_prompt, create_a2a_tool, tool_names};
use a2a::model::Json;
use ledger::Ledger;

pub(super) use call::Delegation;
pub(super) use cancel::cancel_left;

/// The agents to which the model of a turn may delegate.
pub(super) struct Team {
    members: Vec<Member>,
    /// The agents that cannot be had now.
    missing: Vec<String>,
    shared: Rc<Shared>,
}

/// An agent with its tool.
#[derive(Clone)]
pub(super) struct Member {
    /// As the agent file names it.
    agent: String,
    client: Client,
    /// The name of its tool.
    tool: String,
    description: String,
    /// What it says of itself; nothing if it was there when the turn began, and cannot be had now.
    card: Option<Rc<RemoteCard>>,
}

/// What the delegations of a turn have in common.
struct Shared {
    ledger: RefCell<Option<Ledger>>,
    /// How many tasks the turn may begin.
    limit: u64,
    /// How many it has begun, or is beginning.
    begun: Cell<u64>,
    /// How much of an outcome the model is told, in bytes.
    max_bytes: usize,
}

impl Team {
    /// The agents of these names, each with its card. One whose card cannot be had soon is left out. Which tool is whose stays the same
    /// for all attempts at a turn, which begins `limit` tasks at most. The model is told `max_bytes` of an outcome.
    ///
    /// # Errors
    ///
    /// If that cannot be kept.
    pub(super) async fn of(
        turn: &Turn,
        names: &[String],
        limit: u64,
        max_bytes: usize,
    ) -> Result<Self, ExecutorError> {
        let looks =
            names.iter().map(|name| async {
                // Operators are told of a secret that is missing.
                let client = turn.remote(name).ok()?;
                let card =
                    match select(Box::pin(client.discover()), turn.run_outside.sleep(PATIENCE_MS))
                        .await
                    {
                        Either::Left((card, _)) => card,
                        Either::Right(_) => None,
                    };
                Some((client, card))
            });
        let found = join_all(looks).await;
        let found = names.iter().map(String::as_str).zip(found);
        let found: Vec<(&str, Found)> = found.collect();
        let tools = named_tools(turn, &found)?;
        let mut team = Self {
            members: Vec::new(),
            missing: Vec::new(),
            shared: Shared::new(limit, max_bytes),
        };
        for (agent, found) in found {
            let tool = tools.iter().find(|(known, _)| known == agent).map(|(_, tool)| tool);
            let (Some(tool), Some((client, card))) = (tool, found) else {
                team.missing.push(agent.to_owned());
                continue;
            };
            if card.is_none() {
                team.missing.push(agent.to_owned());
            }
            let description = match &card {
                Some(card) => create_a2a_tool(&client, card, None).description,
                None => format!("Hands a task to the agent {agent}, which cannot be reached now."),
            };
            let (agent, tool) = (agent.to_owned(), tool.clone());
            team.members.push(Member { agent, client, tool, description, card });
        }
        Ok(team)
    }

    /// The tools, one for each agent.
    pub(super) fn tools(&self) -> impl Iterator<Item = Delegation> {
        let delegation = |member: &Member| Delegation::new(member.clone(), self.shared.clone());
        self.members.iter().map(delegation)
    }

    /// What the model is told: the agents, and then the author's instructions.
    pub(super) fn prompt(&self, instructions: &str) -> String {
        let named = self
            .members
            .iter()
            .filter_map(|member| Some((member.tool.as_str(), member.card.as_deref()?)));
        let named: Vec<(&str, &RemoteCard)> = named.collect();
        let missing = self.missing.iter().map(|name| format!("`{name}`"));
        let missing = missing.collect::<Vec<_>>().join(", ");
        let instructions = if missing.is_empty() {
            instructions.to_owned()
        } else {
            format!("{UNREACHABLE} {missing}.\n\n{instructions}")
        };
        build_coordinator_prompt(&named, &instructions)
    }
}

impl Shared {
    fn new(limit: u64, max_bytes: usize) -> Rc<Self> {
        Rc::new(Self { ledger: RefCell::default(), limit, begun: Cell::default(), max_bytes })
    }
}

/// The client of an agent, and its card if that can be had now; nothing for one that cannot be called.
type Found = Option<(Client, Option<Rc<RemoteCard>>)>;

/// The name of each agent's tool, as the first attempt at the turn has chosen them.
fn named_tools(
    turn: &Turn,
    found: &[(&str, Found)],
) -> Result<Vec<(String, String)>, ExecutorError> {
    let nth = match turn.run_task.begin_step(TEAM)? {
        StepStart::New(nth) => nth,
        StepStart::Done(kept) => {
            let kept = kept.map(|kept| kept.value()).map_err(ExecutorError)?;
            return Ok(read_tools(&kept));
        }
    };
    let cards = found.iter().filter_map(|(agent, found)| {
        let (_, card) = found.as_ref()?;
        Some((*agent, card.as_deref()?))
    });
    let cards: Vec<(&str, &RemoteCard)> = cards.collect();
    let agents = cards.iter().map(|(agent, _)| (*agent).to_owned());
    let tools: Vec<(String, String)> = agents.zip(tool_names(&cards)).collect();
    let kept = tools.iter().map(|(agent, tool)| (agent.clone(), json!(tool))).collect();
    turn.end_step(TEAM, nth, Ok(Json::from(&Value::Object(kept))))?;
    Ok(tools)
}

/// The agents and their tools as the step keeps them.
fn read_tools(kept: &Value) -> Vec<(String, String)> {
    let members = kept.as_object().into_iter().flatten();
    members.filter_map(|(agent, tool)| Some((agent.clone(), tool.as_str()?.to_owned()))).collect()
}

/// The step that keeps the tool of each agent.
const TEAM: &str = "agents";

const UNREACHABLE: &str =
    "These agents cannot be reached at the moment, which you tell the user where it matters:";

/// How long an agent may take to show its card, in milliseconds.
const PATIENCE_MS: u64 = 5_000;
