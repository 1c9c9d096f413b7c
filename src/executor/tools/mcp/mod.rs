//! Calls of tools of MCP servers: what a message asks for is planned, stored, and carried out.
//!
//! A call is a durable step. It is in the [plan](plan::Plan), which is stored before anything is sent; its end is a step, too. So a run
//! that resumes knows that a call may have been carried out, and repeats it only where the operator trusts the server to say
//! that this is harmless.

mod cancel;
mod ending;
mod known;
mod plan;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::future::{Either, join_all, select};
use serde_json::{Map, Value, json};

use super::super::awake::AwakeRuns;
use super::asked::{Asked, AskedCall, Understanding};
use super::offer::Callable;
use super::{
    Events, ExecutorError, Flow, StepStart, ToolsExecutor, Turn, begin_call, call_own, end_call,
    is_for, said_again,
};
use crate::executor::call::desk::{Desk, say, take_again};
use crate::executor::call::mcp::asked::{Asked as AskedByServer, Way};
use crate::executor::call::mcp::{Answers, McpTool, failure};
use crate::executor::call::question;
use crate::mcp::{FoundServer, KnownTools, Listed, Offered, offered, servers_of};
use a2a::model::{Json, Message, Role, TaskState};
use ending::McpCall;
use plan::{Plan, Planned};

/// The MCP servers whose tools an agent offers.
pub(in crate::executor) struct McpOffer {
    /// What is taken of which server.
    choices: Vec<String>,
    awake: AwakeRuns,
}

/// A run that may call tools of servers.
struct Run<'a> {
    executor: &'a ToolsExecutor,
    offer: &'a McpOffer,
    turn: &'a Turn,
    events: &'a Events,
    /// What is known of servers that this run has asked for.
    known: RefCell<BTreeMap<String, Rc<KnownTools>>>,
    /// For how long the run was parked that this one resumes, if it was.
    parked_ms: Cell<Option<u64>>,
    /// The step in which the next question is kept.
    asking: Cell<Option<u32>>,
}

impl McpOffer {
    /// The servers and tools that an agent file names; `None` if it names none.
    pub(in crate::executor) fn of(choices: Vec<String>) -> Option<Self> {
        (!choices.is_empty()).then(|| Self { choices, awake: AwakeRuns::default() })
    }

    /// Calls what the message of the turn asks for.
    ///
    /// # Errors
    ///
    /// Why the run fails.
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
        // What was begun at a server is of no use any more.
        if turn.is_canceled() || result.is_err() {
            Box::pin(cancel::cancel_left(turn)).await;
        }
        awake.end();
        result
    }

    /// Cancels what goes on at a server for a run that is parked.
    pub(super) async fn cancel(&self, turn: &Turn) {
        if self.awake.has_left(turn).await {
            Box::pin(cancel::cancel_left(turn)).await;
        }
    }
}

impl Run<'_> {
    async fn execute(&self) -> Result<(), ExecutorError> {
        let (mut kept, mut nth) = (None, None);
        if self.turn.resumes {
            match self.turn.run_task.begin_step(PLAN)? {
                StepStart::New(new) => nth = Some(new),
                StepStart::Done(plan) => kept = Some(read_plan(plan.map(|plan| plan.value()))?),
            }
        }
        let is_recovered = kept.is_some();
        // The message may answer a question of an earlier turn.
        if kept.is_none() && self.turn.number > 1 {
            kept = self
                .turn
                .last_step::<Value>(ASKED)?
                .map(|asked| read_plan(Ok(asked)))
                .transpose()?;
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
                None => self.begin_new(PLAN)?,
            };
            self.turn.end_step(PLAN, nth, Ok(Json::from(&plan.to_json())))?;
        }
        self.call_all(plan, calls, answers, is_recovered).await
    }

    async fn call_all(
        &self,
        plan: Plan,
        calls: Vec<AskedCall<'_>>,
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
        // The first call that is not done may have been carried out, those behind it not: they would be done, or it.
        let mut is_doubtful = is_recovered;
        let mut has_asked = false;
        for (index, AskedCall { tool, arguments, .. }) in calls.into_iter().enumerate() {
            let position = index + 1;
            if position < plan.begins() {
                continue;
            }
            let begun = match tool {
                Callable::Own(_) => begin_call(self.turn, position, count)?,
                Callable::Mcp(_) => self.turn.run_task.begin_step(&position.to_string())?,
            };
            let nth = match begun {
                StepStart::New(nth) => nth,
                StepStart::Done(kept) => {
                    let kept = kept.map(|kept| kept.value()).unwrap_or_default();
                    if take_again(self.turn, &kept) {
                        // What it has asked while it was open is not asked again.
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
                        // All that was said before this call is said again by now, and what it says itself differs each time.
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
                    let outcome = desk.noted(&position.to_string(), json!({}));
                    end_call(self.turn, position, count, nth, &outcome)?;
                }
            }
        }
        self.events.complete(None)
    }

    /// What a plan, or else the messages, ask for.
    fn calls<'t>(
        &self,
        tools: &'t [Callable],
        messages: &'t [Message],
        plan: Option<&Plan>,
    ) -> Asked<'t> {
        let by_text = plan.and_then(|plan| plan.text.as_deref().zip(messages.last()));
        if let (Some((argument, message)), Some(tool)) = (by_text, tools.last()) {
            let text = Value::from(message.text());
            let arguments = Map::from_iter([(argument.to_owned(), text)]);
            return Asked::Calls(vec![AskedCall { tool, arguments, text: None }]);
        }
        Understanding { tools, asks_missing: self.executor.asks_missing }.of(messages)
    }

    /// The client's messages that say what is called.
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

    /// The tools of this Worker, and those of servers that a plan names.
    fn planned_tools(&self, plan: &Plan) -> Vec<Callable> {
        let offer = &self.executor.offer;
        let caller = &self.turn.caller;
        let mut tools = offer.to(caller);
        tools.extend(offer.mcp_to(caller, plan.tools()));
        tools
    }

    /// All tools that the caller may use. `None` if the task has failed, since a server that is needed is down.
    async fn offered_tools(&self) -> Result<Option<Vec<Callable>>, ExecutorError> {
        let messages = self.messages(None);
        let looks = self.look(&messages, false).await;
        let mut tools = self.tools(&looks);
        if self.understands(&tools, &messages) {
            return Ok(Some(tools));
        }
        // What is not known may be new.
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

    /// Looks at all servers. Those that take long are not waited for if the messages are understood without them.
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

    /// The tools of this Worker, and those of the servers that were looked at.
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
        let mut tools = offer.to(caller);
        tools.extend(offer.mcp_to(caller, made.collect()));
        tools
    }

    async fn look_at(&self, name: &str, is_newer: bool) -> Looked {
        let server = self.turn.mcp_server(name).map_err(|error| error.0)?;
        let known = self.known(name, &server, is_newer).await;
        known.map(|known| (known, server.trusts_hints)).map_err(|error| failure(name, &error))
    }

    /// What is known of a server, or newer than that.
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

    /// What the message of the turn answers, if it answers something. An answer that does not fit is told.
    fn answers(&self, plan: &Plan) -> Result<Result<Answers, Said>, ExecutorError> {
        let Some(asked) = &plan.answers else { return Ok(Ok(Answers::default())) };
        if asked.way == Way::Held {
            let server = plan.server(asked.position);
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

    /// Keeps what a call asks, for the turn that answers it.
    fn keep_asked(&self, plan: &Plan, asked: AskedByServer) -> Result<(), ExecutorError> {
        let nth = match self.asking.take() {
            Some(nth) => nth,
            None => self.begin_new(ASKED)?,
        };
        let plan = Plan { answers: Some(Box::new(asked)), ..plan.clone() };
        self.turn.end_step(ASKED, nth, Ok(Json::from(&plan.to_json())))
    }

    /// Begins a step that no earlier attempt has ended.
    fn begin_new(&self, name: &str) -> Result<u32, ExecutorError> {
        loop {
            if let StepStart::New(nth) = self.turn.run_task.begin_step(name)? {
                return Ok(nth);
            }
        }
    }
}

/// What a server offers, and whether its hints are trusted; or why that is not known.
type Looked = Result<(Rc<KnownTools>, bool), String>;

/// Something was said, and the run is over.
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

/// Whether a message names a tool.
fn names_tool(message: &Message) -> bool {
    let names = |data: Value| data.get("tool").is_some_and(Value::is_string);
    message.parts.iter().filter_map(a2a::model::Part::as_data).any(names)
}

fn read_plan(stored: Result<Value, String>) -> Result<Plan, ExecutorError> {
    let unfit = || "the stored plan of the calls cannot be read".to_owned();
    stored.and_then(|plan| Plan::read(&plan).ok_or_else(unfit)).map_err(ExecutorError)
}

/// The step that keeps the plan of a turn.
const PLAN: &str = "mcp calls";

/// The step that keeps a question, with the plan that goes on when it is answered.
const ASKED: &str = "mcp question";

/// How long servers have to say what they offer if that is not needed, in milliseconds.
const PATIENCE_MS: u64 = 2_000;

/// How much of a description is shown in a list of tools, in characters.
const MAX_LISTED_CHARS: usize = 500;
