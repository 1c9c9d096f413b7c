//! Calls of MCP tools: the calls of a message are planned, stored, and carried out.
//!
//! A call is a durable step. The [plan](plan::Plan) contains the call, and is stored before any request is sent; the end of the call is
//! a step, too. So a run that resumes recognizes a call that may have been carried out. It repeats the call only if the operator trusts
//! the server's hint that a repetition is harmless.

mod cancel;
mod ending;
mod known;
mod plan;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_util::future::{Either, select};
use serde_json::{Map, Value};

use super::super::awake::AwakeRuns;
use super::asked::{Asked, AskedCall, Understanding};
use super::offer::{Callable, Named};
use super::{
    Events, ExecutorError, Flow, StepStart, ToolsExecutor, Turn, begin_call, call_own, end_call,
    is_for, said_again,
};
use crate::executor::call::desk::{Desk, say, take_again};
use crate::executor::call::mcp::asked::{Asked as AskedByServer, Way};
use crate::executor::call::mcp::{Answers, McpTool, failure};
use crate::executor::call::question;
use crate::mcp::{FoundServer, KnownTools, Listed, Offered, offered, servers_of};
use crate::port::join_all;
use a2a::model::{Message, Role, TaskState};
use a2a::sorted::SortedMap;
use ending::McpCall;
use plan::{Plan, Planned};

/// The MCP servers whose tools an agent offers.
pub(in crate::executor) struct McpOffer {
    /// The servers, or single tools of servers, that the agent file names.
    choices: Vec<String>,
    awake: AwakeRuns,
}

/// A run that may call tools of MCP servers.
struct Run<'a> {
    executor: &'a ToolsExecutor,
    offer: &'a McpOffer,
    turn: &'a Turn,
    events: &'a Events,
    /// The tools of the servers that this run has loaded.
    known: RefCell<SortedMap<String, Rc<KnownTools>>>,
    /// The time for which the run was parked before this run resumed it, if it was parked.
    parked_ms: Cell<Option<u64>>,
    /// The step in which the next question is stored.
    asking: Cell<Option<u32>>,
}

impl McpOffer {
    /// The servers and tools that an agent file names; `None` if the file names no server.
    pub(in crate::executor) fn of(choices: Vec<String>) -> Option<Self> {
        (!choices.is_empty()).then(|| Self { choices, awake: AwakeRuns::default() })
    }

    /// Makes the calls that the message of the turn requests.
    ///
    /// # Errors
    ///
    /// The reason why the run fails.
    pub(super) async fn execute(
        &self,
        executor: &ToolsExecutor,
        turn: &Turn,
        events: &Events,
    ) -> Result<(), ExecutorError> {
        let awake = self.awake.wake(turn);
        let run = Run {
            executor,
            offer: self,
            turn,
            events,
            known: RefCell::default(),
            parked_ms: Cell::default(),
            asking: Cell::default(),
        };
        let result = run.execute().await;
        // The result of a task at a server is not needed any more.
        if turn.is_canceled() || result.is_err() {
            Box::pin(cancel::cancel_left(turn)).await;
        }
        awake.end();
        result
    }

    /// Cancels the task that a server still runs for a parked run.
    pub(super) async fn cancel(&self, turn: &Turn) {
        if self.awake.has_left(turn).await {
            Box::pin(cancel::cancel_left(turn)).await;
        }
    }
}

impl Run<'_> {
    async fn execute(&self) -> Result<(), ExecutorError> {
        let (mut kept, mut nth): (Option<Plan>, _) = (None, None);
        if self.turn.resumes {
            match self.turn.begin_step(PLAN)? {
                StepStart::New(new) => nth = Some(new),
                StepStart::Done(plan) => kept = Some(plan.map_err(ExecutorError)?),
            }
        }
        let is_recovered = kept.is_some();
        // The message may answer a question of an earlier turn.
        if kept.is_none() && self.turn.number > 1 {
            kept = self.turn.last_kept(ASKED)?;
        }
        let tools = match &kept {
            Some(plan) => self.planned_tools(plan),
            None => match self.offered_tools().await? {
                Some(tools) => tools,
                None => return Ok(()),
            },
        };
        let messages = self.messages(kept.as_ref());
        let calls = match self.calls(&tools, &messages, kept.as_ref()) {
            Asked::Calls(calls) => calls,
            Asked::Said(state, parts) => {
                let parts = parts.into_iter().filter(|part| is_for(part, self.turn));
                return self.events.status_with(state, parts.collect());
            }
        };
        let plan = kept.unwrap_or_else(|| Plan {
            messages: messages.len(),
            calls: calls.iter().map(|call| Planned::of(call.tool)).collect(),
            text: calls.first().and_then(|call| call.text.map(str::to_owned)),
            answers: None,
        });
        let answers = match self.answers(&plan)? {
            Ok(answers) => answers,
            Err(Said) => return Ok(()),
        };
        self.events.working(None)?;
        if !is_recovered && plan.calls.iter().any(|call| matches!(call, Planned::Mcp { .. })) {
            let nth = match nth {
                Some(nth) => nth,
                None => self.turn.begin_new_step(PLAN)?,
            };
            self.turn.end_step(PLAN, nth, Ok(&plan))?;
        }
        self.call_all(plan, calls, answers, is_recovered).await
    }

    async fn call_all(
        &self,
        plan: Plan,
        calls: Vec<AskedCall<'_, Callable>>,
        answers: Answers,
        is_recovered: bool,
    ) -> Result<(), ExecutorError> {
        let count = calls.len();
        let mut answers = Some(answers);
        let desk = Desk::new(self.turn, self.events, |key, question| {
            let position = key.parse().unwrap_or_default();
            let questions = vec![question.clone()];
            self.keep_asked(&plan, AskedByServer { position, questions, way: Way::Held })
        });
        // Calls run in order. So the first call without a stored end may have been carried out, and the calls after it
        // were not begun.
        let mut is_doubtful = is_recovered;
        let mut has_asked = false;
        for (index, AskedCall { tool, arguments, .. }) in calls.into_iter().enumerate() {
            let position = index + 1;
            if position < plan.begins() {
                continue;
            }
            let begun = match tool {
                Callable::Own(_) => begin_call(self.turn, position, count)?,
                Callable::Mcp(_) => self.turn.begin_step(&position.to_string())?,
            };
            let nth = match begun {
                StepStart::New(nth) => nth,
                StepStart::Done(kept) => {
                    if take_again(self.turn, kept.ok().flatten().unwrap_or_default()) {
                        // A question from the open connection of that call is not shown again.
                        self.turn.take_up();
                        has_asked = true;
                    }
                    if !has_asked {
                        said_again(self.events, tool.name(), position)?;
                    }
                    continue;
                }
            };
            let is_doubtful = std::mem::take(&mut is_doubtful);
            let flow = match tool {
                Callable::Own(tool) => {
                    call_own(self.turn, self.events, tool.as_ref(), arguments, position).await?
                }
                Callable::Mcp(tool) => {
                    if self.turn.resumes {
                        // All events before this call were emitted again by now. The events of the call itself differ in each
                        // run, so from here on nothing is repeated.
                        self.parked_ms.set(self.turn.take_up());
                    }
                    let answers = answers.take().filter(|_| plan.begins() == position);
                    let call = McpCall { run: self, plan: &plan, tool, position, is_doubtful };
                    call.make(&desk, arguments, answers.unwrap_or_default()).await?
                }
            };
            match flow {
                Flow::Over => return Ok(()),
                Flow::GoesOn => {
                    let taken = desk.taken(&position.to_string());
                    end_call(self.turn, position, count, nth, Some(taken))?;
                }
            }
        }
        self.events.complete(None)
    }

    /// The calls of the plan; without a plan, the calls that the messages request.
    fn calls<'t>(
        &self,
        tools: &'t [Callable],
        messages: &'t [Message],
        plan: Option<&Plan>,
    ) -> Asked<'t, Callable> {
        let by_text = plan.and_then(|plan| plan.text.as_deref().zip(messages.last()));
        if let (Some((argument, message)), Some(tool)) = (by_text, tools.last()) {
            let text = Value::from(message.text());
            let arguments = Map::from_iter([(argument.to_owned(), text)]);
            return Asked::Calls(vec![AskedCall { tool, arguments, text: None }]);
        }
        Understanding { tools, asks_missing: self.executor.asks_missing }.of(messages)
    }

    /// The client's messages that name the calls and their arguments.
    fn messages(&self, plan: Option<&Plan>) -> Vec<Message> {
        let count = plan.map_or(self.turn.number, |plan| plan.messages);
        if self.turn.number == 1 {
            return vec![self.turn.message.clone()];
        }
        let mut messages = self.turn.history();
        messages.retain(|message| message.role == Role::User);
        messages.truncate(count);
        messages
    }

    /// The tools of this Worker, and the tools of servers that a plan names.
    fn planned_tools(&self, plan: &Plan) -> Vec<Callable> {
        let offer = &self.executor.offer;
        let caller = &self.turn.caller;
        offer.with_mcp(caller, plan.tools())
    }

    /// All tools that the caller may use. `None` if the task has failed, because a server that is needed is down.
    async fn offered_tools(&self) -> Result<Option<Vec<Callable>>, ExecutorError> {
        let messages = self.messages(None);
        let looks = self.look(&messages, false).await;
        let mut tools = self.tools(&looks);
        if self.understands(&tools, &messages) {
            return Ok(Some(tools));
        }
        // A tool that is not in the cached lists may be new, so newer lists are loaded.
        let looks = if messages.last().is_some_and(names_tool) {
            self.look(&messages, true).await
        } else {
            looks
        };
        tools = self.tools(&looks);
        let down = looks.into_iter().filter_map(|(_, looked)| looked.err());
        let down = down.collect::<Vec<_>>().join("; ");
        if down.is_empty() || self.understands(&tools, &messages) {
            return Ok(Some(tools));
        }
        self.events.fail(&format!("not all tools are known at the moment: {down}"))?;
        Ok(None)
    }

    fn understands(&self, tools: &[Callable], messages: &[Message]) -> bool {
        match self.calls(tools, messages, None) {
            Asked::Calls(_) => true,
            Asked::Said(state, _) => !matches!(state, TaskState::Rejected | TaskState::Failed),
        }
    }

    /// Loads the tools of all servers. The function waits for a slow server only if the messages cannot be understood
    /// without the server's tools.
    async fn look(&self, messages: &[Message], is_newer: bool) -> Vec<(&str, Looked)> {
        let servers = servers_of(&self.offer.choices);
        let found: RefCell<Vec<(&str, Looked)>> = RefCell::default();
        let looks = servers.iter().map(|server| async {
            let looked = self.look_at(server, is_newer).await;
            found.borrow_mut().push((*server, looked));
        });
        let patience = self.turn.run_outside.sleep(PATIENCE_MS);
        if let Either::Right(((), others)) = select(join_all(looks), patience).await {
            let tools = self.tools(&found.borrow());
            if !self.understands(&tools, messages) {
                others.await;
            }
        }
        found.take()
    }

    /// The tools of this Worker, and those of the servers that were loaded.
    fn tools(&self, looks: &[(&str, Looked)]) -> Vec<Callable> {
        let (offer, caller) = (&self.executor.offer, &self.turn.caller);
        let known =
            || looks.iter().filter_map(|(server, looked)| Some((*server, looked.as_ref().ok()?)));
        let lists = known().map(|(server, (known, _))| Listed { server, tools: &known.tools });
        let lists: Vec<Listed<'_>> = lists.collect();
        let made = offered(&self.offer.choices, &lists, &offer.names()).into_iter().map(|one| {
            let trusts = known().any(|(server, (_, trusts))| server == one.server && *trusts);
            tool_of(&one, trusts)
        });
        offer.with_mcp(caller, made.collect())
    }

    async fn look_at(&self, name: &str, is_newer: bool) -> Looked {
        let server = self.turn.mcp_server(name).map_err(|error| error.0)?;
        let known = self.known(name, &server, is_newer).await;
        known.map(|known| (known, server.trusts_hints)).map_err(|error| failure(name, &error))
    }

    /// The tools of a server, from the cache of this run; if `is_newer`, loaded again.
    async fn known(
        &self,
        name: &str,
        server: &FoundServer,
        is_newer: bool,
    ) -> Result<Rc<KnownTools>, ::mcp::client::McpError> {
        let known = self.known.borrow().get(name).cloned();
        let newer_than = match known {
            Some(known) if is_newer => Some(known.listed),
            Some(known) => return Ok(known),
            None => None,
        };
        let known = self.turn.run_outside.mcp_tools(server, newer_than).await?;
        self.known.borrow_mut().insert(name.to_owned(), known.clone());
        Ok(known)
    }

    /// The answers in the message of the turn, if it answers a question. For an invalid answer the question is shown
    /// again.
    fn answers(&self, plan: &Plan) -> Result<Result<Answers, Said>, ExecutorError> {
        let Some(asked) = &plan.answers else { return Ok(Ok(Answers::default())) };
        if asked.way == Way::Held {
            let server = plan.server(asked.position)?;
            self.events.fail(&format!(
                "the MCP server {server} had asked on a connection that was lost since; ask for the call again"
            ))?;
            return Ok(Err(Said));
        }
        match question::answers(&self.turn.message, &asked.questions) {
            Ok(answers) => Ok(Ok(Answers { asked: Some((**asked).clone()), answers })),
            Err(unfit) => {
                say(self.turn, self.events, &asked.questions, Some(&unfit))?;
                Ok(Err(Said))
            }
        }
    }

    /// Stores the questions of a call, for the turn that answers them.
    fn keep_asked(&self, plan: &Plan, asked: AskedByServer) -> Result<(), ExecutorError> {
        let nth = match self.asking.take() {
            Some(nth) => nth,
            None => self.turn.begin_new_step(ASKED)?,
        };
        let plan = Plan { answers: Some(Box::new(asked)), ..plan.clone() };
        self.turn.end_step(ASKED, nth, Ok(&plan))
    }
}

/// The tools of a server, and true if its hints are trusted; or the reason why the tools could not be loaded.
type Looked = Result<(Rc<KnownTools>, bool), String>;

/// The task's status was set, and the run is over.
struct Said;

fn tool_of(offered: &Offered<'_>, trusts_hints: bool) -> McpTool {
    let description = offered.skill().description;
    McpTool {
        id: offered.id(),
        server: offered.server.to_owned(),
        tool: offered.tool.clone(),
        description: description.chars().take(MAX_LISTED_CHARS).collect(),
        repeats: trusts_hints && offered.tool.annotations.may_be_repeated(),
    }
}

/// True if a message names a tool.
fn names_tool(message: &Message) -> bool {
    let names = |data: Value| data.get("tool").is_some_and(Value::is_string);
    message.parts.iter().filter_map(a2a::model::Part::as_data).any(names)
}

/// The step that stores the plan of a turn.
const PLAN: &str = "mcp calls";

/// The step that stores a question, together with the plan that continues after the answer.
const ASKED: &str = "mcp question";

/// The timeout for loading the lists of tools if the message can be understood without them, in milliseconds.
const PATIENCE_MS: u64 = 2_000;

/// The largest number of characters of a description in a list of tools.
const MAX_LISTED_CHARS: usize = 500;
