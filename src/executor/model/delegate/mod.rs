//! Other agents as tools of a model: a call of such a tool becomes a task of the other agent, and one line of text
//! reports its outcome to the model.
//!
//! A delegation is durable. The id of its message follows from the turn and the call, a step stores the link to the task as soon as
//! the task is known, and the step of the call stores the outcome. So an attempt that resumes continues the tasks that were begun, and
//! begins none twice. The delegations are stored only in these steps; [`ledger`] reads them.

mod call;
mod cancel;
mod ledger;
mod outcome;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::future::{Either, select};
use serde::{Serialize, Serializer};

use super::super::{ExecutorError, StepStart, Turn};
use crate::port::join_all;
use a2a::client::{Client, RemoteCard, build_coordinator_prompt, create_a2a_tool, tool_names};
use a2a::model::decode::{Decode, Fields};
use ledger::Ledger;

pub(super) use call::Delegation;
pub(super) use cancel::cancel_left;

/// The agents to which the model may delegate in a turn.
pub(super) struct Team {
    members: Vec<Member>,
    /// The agents that cannot be reached now.
    missing: Vec<String>,
    shared: Rc<Shared>,
}

/// An agent together with its tool.
#[derive(Clone)]
pub(super) struct Member {
    /// The name of the agent in the agent file.
    agent: String,
    client: Client,
    /// The name of the agent's tool.
    tool: String,
    description: String,
    /// The agent's card. `None` if the agent was available in the turn's first attempt, but its card cannot be fetched
    /// now.
    card: Option<Rc<RemoteCard>>,
}

/// The state that the delegations of a turn share.
struct Shared {
    ledger: RefCell<Option<Ledger>>,
    /// The largest number of tasks that the turn may begin.
    limit: u64,
    /// The number of tasks that the turn has begun or is beginning.
    begun: Cell<u64>,
    /// The largest size of an outcome for the model, in bytes.
    max_bytes: usize,
}

impl Team {
    /// Fetches the cards of the agents of these names. An agent without a card within a short time is left out. The names of the tools
    /// stay the same for all attempts of a turn. The turn begins at most `limit` tasks, and the model receives at most `max_bytes` of
    /// an outcome.
    ///
    /// # Errors
    ///
    /// If the names of the tools cannot be stored.
    pub(super) async fn of(
        turn: &Turn,
        names: &[String],
        limit: u64,
        max_bytes: usize,
    ) -> Result<Self, ExecutorError> {
        let looks =
            names.iter().map(|name| async {
                // A missing secret is written to the operators' log.
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
            let (Some(tool), Some((client, card))) = (tools.tool_of(agent), found) else {
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
            let (agent, tool) = (agent.to_owned(), tool.to_owned());
            team.members.push(Member { agent, client, tool, description, card });
        }
        Ok(team)
    }

    /// The tools, one for each agent.
    pub(super) fn tools(&self) -> impl Iterator<Item = Delegation> {
        let delegation = |member: &Member| Delegation::new(member.clone(), self.shared.clone());
        self.members.iter().map(delegation)
    }

    /// The system prompt: the agents, and then the author's instructions.
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

/// The client of an agent, and its card if the card was fetched. `None` if the agent cannot be called.
type Found = Option<(Client, Option<Rc<RemoteCard>>)>;

/// The name of each agent's tool, as the turn's first attempt has chosen and stored it.
fn named_tools(turn: &Turn, found: &[(&str, Found)]) -> Result<ToolNames, ExecutorError> {
    let nth = match turn.begin_step(TEAM)? {
        StepStart::New(nth) => nth,
        StepStart::Done(kept) => return kept.map_err(ExecutorError),
    };
    let cards = found.iter().filter_map(|(agent, found)| {
        let (_, card) = found.as_ref()?;
        Some((*agent, card.as_deref()?))
    });
    let cards: Vec<(&str, &RemoteCard)> = cards.collect();
    let agents = cards.iter().map(|(agent, _)| (*agent).to_owned());
    let tools = ToolNames(agents.zip(tool_names(&cards)).collect());
    turn.end_step(TEAM, nth, Ok(&tools))?;
    Ok(tools)
}

/// The tool of each agent. A step stores it as an object, in the order of the agents.
#[derive(Default)]
struct ToolNames(Vec<(String, String)>);

impl ToolNames {
    fn tool_of(&self, agent: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == agent).map(|(_, tool)| tool.as_str())
    }

    fn agent_of(&self, tool: &str) -> Option<&str> {
        self.0.iter().find(|(_, known)| known == tool).map(|(agent, _)| agent.as_str())
    }
}

impl Serialize for ToolNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(agent, tool)| (agent, tool)))
    }
}

impl Decode for ToolNames {
    fn decode(fields: &mut Fields) -> Option<Self> {
        fields.rest("the name of a tool for each agent", |json| {
            let named = json.as_object()?.iter();
            let named = named.map(|(agent, tool)| Some((agent.clone(), tool.as_str()?.to_owned())));
            named.collect::<Option<_>>().map(Self)
        })
    }
}

/// The name of the step that stores the tool of each agent.
const TEAM: &str = "agents";

const UNREACHABLE: &str =
    "These agents cannot be reached at the moment, which you tell the user where it matters:";

/// The timeout for fetching the card of an agent, in milliseconds.
const PATIENCE_MS: u64 = 5_000;
