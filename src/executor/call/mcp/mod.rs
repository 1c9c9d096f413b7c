//! One call of an MCP tool: the code makes the call, reads its events and follows its task to the end. The calling executor
//! handles the end of the call.

pub(in crate::executor) mod asked;
pub(in crate::executor) mod content;
mod follow;

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::slice;

use futures_util::future::{Either, LocalBoxFuture, pending, select};
use futures_util::lock::MutexGuard;
use serde_json::{Map, Value, json};

use super::CallInTurn;
use super::desk::Desk;
use super::question;
use crate::executor::{Events, ExecutorError, StepStart, Turn};
use crate::mcp::{FoundServer, KnownTools};
use crate::port::{HttpError, Work, WorkEnd};
use ::mcp::client::{Call, CallEvent, McpError, Progress, TaskHandle, ToolRequest};
use ::mcp::model::{Answer, CallResult, Question, Tool};
use a2a::model::{Message, UnixMillis, number_text};
use a2a_agents::tool::ToolCall;
use asked::{Asked, Way};

/// A tool of an MCP server, as an agent offers it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct McpTool {
    /// The name of the tool in this agent.
    pub(in crate::executor) id: String,
    /// The name of the server.
    pub(in crate::executor) server: String,
    /// The tool as the server defines it. If the server does not list it any more, only its name is filled in.
    pub(in crate::executor) tool: Tool,
    /// The description, shortened so that it can be listed.
    pub(in crate::executor) description: String,
    /// True if a call may be repeated although an earlier attempt may have carried it out.
    pub(in crate::executor) repeats: bool,
}

/// A call that a run makes.
pub(in crate::executor) struct ServerCall<'a> {
    pub(in crate::executor) turn: &'a Turn,
    pub(in crate::executor) events: &'a Events,
    pub(in crate::executor) tool: &'a McpTool,
    /// The key of the call in the names of steps: `2`, or `1.2` for the second call of the first round.
    pub(in crate::executor) key: &'a str,
    /// True if an earlier attempt may have made this call.
    pub(in crate::executor) is_doubtful: bool,
    /// Serializes the questions that the calls of the round ask while their connections are open.
    pub(in crate::executor) desk: &'a Desk<'a>,
    /// The time for which the run was parked before this run resumed it; the cell is empty if the run was not parked. `None`
    /// if runs are not parked here.
    pub(in crate::executor) parked_ms: Option<&'a Cell<Option<u64>>>,
}

/// The answers in a message of the client, and the questions that they belong to.
#[derive(Default)]
pub(in crate::executor) struct Answers {
    /// The questions, if the call has asked any.
    pub(in crate::executor) asked: Option<Asked>,
    /// The answers, each with the key of its question.
    pub(in crate::executor) answers: Vec<(String, Answer)>,
}

/// The end of a call.
pub(in crate::executor) enum End {
    /// The tool has run.
    Finished(CallResult),
    /// The server has asked questions, and is called again with the answers.
    Asked(Vec<Question>, Way),
    /// The call has failed.
    Failed(McpError),
    /// An earlier attempt may have made the call, so the call was not repeated.
    Unknown,
    /// The client has canceled the task.
    Canceled,
}

/// The kind of the failure with which a call ended, if it has failed.
fn failure_of(end: &Result<End, ExecutorError>) -> Option<&'static str> {
    match end {
        Ok(End::Finished(result)) => result.is_error.then_some("tool_error"),
        Ok(End::Asked(..)) => None,
        Ok(End::Unknown) => Some("unknown"),
        Ok(End::Canceled) => Some("canceled"),
        Ok(End::Failed(_)) | Err(_) => Some("failed"),
    }
}

/// The end of a call on its own connection.
enum Closed {
    At(End),
    /// The server continues the call as a task.
    Task(TaskHandle),
}

/// The first event that an open call receives.
enum Heard<'a> {
    Event(Option<Result<CallEvent, McpError>>),
    /// The call may ask the user now.
    Place(MutexGuard<'a, ()>),
    Message(Message),
    Canceled,
    Pause,
}

impl ServerCall<'_> {
    /// Makes the call, or continues it. `known` is the server's list of tools, if the list is loaded.
    ///
    /// # Errors
    ///
    /// The reason why the run fails.
    pub(in crate::executor) async fn make(
        &self,
        server: FoundServer,
        known: Option<Rc<KnownTools>>,
        arguments: Map<String, Value>,
        answers: Answers,
    ) -> Result<End, ExecutorError> {
        let (turn, timed) = (self.turn, self.turn.begin_timed("tool", self.key, 1));
        let made = Box::pin(self.carry_out(server, known, arguments, answers));
        let end = turn.within(timed.as_ref(), made).await;
        let work = Work::McpTool { server: &self.tool.server, tool: &self.tool.tool.name };
        turn.end_timed(timed, work, WorkEnd { failure: failure_of(&end), usage: None });
        end
    }

    async fn carry_out(
        &self,
        server: FoundServer,
        known: Option<Rc<KnownTools>>,
        arguments: Map<String, Value>,
        answers: Answers,
    ) -> Result<End, ExecutorError> {
        // A call does not need the list of tools, but with the list the client sends no further requests before the
        // call.
        let client = match &known {
            Some(known) => known.tell(server.client),
            None => server.client,
        };
        let step = format!("{}/task", self.key);
        let nth = match self.turn.begin_step(&step)? {
            StepStart::Done(task) => {
                let task = task.map_err(ExecutorError)?;
                return Box::pin(self.follow(&client, task, &answers)).await;
            }
            StepStart::New(nth) => nth,
        };
        let keep = |task: &TaskHandle| self.turn.end_step(&step, nth, Ok(task));
        let (state, round) = match answers.asked.as_ref().map(|asked| asked.way.clone()) {
            Some(Way::Task(task)) => {
                // A task that received these answers from an earlier attempt ignores them the second time.
                return match client.answer_task(&task, &answers.answers).await {
                    Ok(()) => {
                        keep(&task)?;
                        Box::pin(self.follow(&client, task, &answers)).await
                    }
                    Err(error) => Ok(End::Failed(error)),
                };
            }
            Some(Way::Round { state, round }) => (state, round),
            Some(Way::Held) | None => (None, 0),
        };
        if self.is_doubtful && !self.tool.repeats {
            return Ok(End::Unknown);
        }
        let definition = known.and_then(|known| known.tool(&self.tool.tool.name).cloned());
        let definition = definition.unwrap_or_else(|| bare(&self.tool.tool.name));
        let Answers { answers, .. } = answers;
        let in_turn = CallInTurn::new(self.turn, self.events, self.key);
        let key = Some(in_turn.idempotency_key());
        let request = ToolRequest::new(&definition, arguments.into());
        let mut call = client.call(ToolRequest { answers, state, round, key, ..request });
        match Box::pin(self.listen(&mut call)).await? {
            Closed::Task(task) => {
                keep(&task)?;
                Box::pin(self.follow(&client, task, &Answers::default())).await
            }
            Closed::At(End::Canceled) => {
                call.cancel().await;
                Ok(End::Canceled)
            }
            Closed::At(end) => {
                // The session is closed before the end is reported, so that no crash during the close falls between the
                // report and the step.
                let closing = self.turn.run_outside.sleep(CLOSE_MS);
                select(Box::pin(client.close()), closing).await;
                Ok(end)
            }
        }
    }

    /// Receives the events of the call until it ends.
    async fn listen(&self, call: &mut Call) -> Result<Closed, ExecutorError> {
        let mut pace = Pace::default();
        // The questions that the server asks on this connection. The first question is shown once the call holds the
        // place.
        let mut open: VecDeque<Question> = VecDeque::new();
        let mut place: Option<MutexGuard<'_, ()>> = None;
        let closed = loop {
            let heard = self.hear(call, &pace, !open.is_empty(), place.is_some()).await;
            match heard {
                Heard::Canceled => return Ok(Closed::At(End::Canceled)),
                Heard::Pause => {}
                Heard::Place(given) => {
                    place = Some(given);
                    if let Some(question) = open.front() {
                        self.desk.ask(self.key, question)?;
                    }
                }
                Heard::Message(message) => {
                    let Some(question) = open.front() else { continue };
                    let answers = match question::answers(&message, slice::from_ref(question)) {
                        Ok(answers) => answers,
                        Err(unfit) => {
                            self.desk.ask_again(question, &unfit)?;
                            continue;
                        }
                    };
                    for (key, answer) in answers {
                        if let Err(error) = call.answer(&key, &answer).await {
                            return Ok(Closed::At(End::Failed(error)));
                        }
                    }
                    open.pop_front();
                    match open.front() {
                        Some(next) => self.desk.ask(self.key, next)?,
                        None => place = None,
                    }
                }
                Heard::Event(Some(Ok(CallEvent::Progress(progress)))) => pace.take(progress),
                Heard::Event(Some(Ok(CallEvent::LegacyAsked(question)))) => {
                    open.push_back(question);
                }
                Heard::Event(Some(Ok(CallEvent::Finished(result)))) => {
                    break Closed::At(End::Finished(result));
                }
                Heard::Event(Some(Ok(CallEvent::Asked { questions, state, round }))) => {
                    break Closed::At(End::Asked(questions, Way::Round { state, round }));
                }
                Heard::Event(Some(Ok(CallEvent::Task(task)))) => break Closed::Task(task),
                Heard::Event(Some(Err(McpError::Timeout { timeout_ms }))) if !open.is_empty() => {
                    let reason = format!("nobody has answered its question within {timeout_ms} ms");
                    break Closed::At(End::Failed(McpError::Unexpected(reason)));
                }
                Heard::Event(Some(Err(error))) => break Closed::At(End::Failed(error)),
                Heard::Event(None) => {
                    let reason = "the call ended without a result".to_owned();
                    break Closed::At(End::Failed(McpError::Lost(reason)));
                }
            }
            if !self.desk.is_taken()
                && let Some(text) = pace.due(self.turn.now())
                && let Err(refused) = self.events.working(Some(&text))
            {
                return self.refused(refused);
            }
        };
        // The call has ended, so its open questions cannot be answered any more: the task returns to `working`.
        if place.is_some()
            && let Err(refused) = self.events.working(None)
        {
            return self.refused(refused);
        }
        Ok(closed)
    }

    /// If the task was canceled, a refused event ends the call as canceled; otherwise the refusal is an error.
    fn refused(&self, refused: ExecutorError) -> Result<Closed, ExecutorError> {
        if self.turn.is_canceled() { Ok(Closed::At(End::Canceled)) } else { Err(refused) }
    }

    async fn hear(&self, call: &mut Call, pace: &Pace, asks: bool, has_place: bool) -> Heard<'_> {
        let turn = self.turn;
        let event = Box::pin(async { Heard::Event(call.next().await) });
        let canceled: LocalBoxFuture<'_, Heard<'_>> = Box::pin(async {
            turn.canceled().await;
            Heard::Canceled
        });
        let pause_ms = pace.pause_ms(turn.now()).filter(|_| !self.desk.is_taken());
        let other: LocalBoxFuture<'_, Heard<'_>> = match (asks, has_place, pause_ms) {
            (true, true, _) => {
                Box::pin(async { Heard::Message(self.desk.message(self.key).await) })
            }
            (true, false, _) => Box::pin(async { Heard::Place(self.desk.place().await) }),
            (false, _, Some(pause_ms)) => Box::pin(async move {
                turn.run_outside.sleep(pause_ms).await;
                Heard::Pause
            }),
            (false, _, None) => Box::pin(pending()),
        };
        match select(canceled, select(event, other)).await {
            Either::Left((heard, _)) => heard,
            Either::Right((Either::Left((heard, _)), _)) => heard,
            Either::Right((Either::Right((heard, _)), _)) => heard,
        }
    }
}

/// A tool of which only the name is known.
pub(in crate::executor) fn bare(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        title: None,
        description: None,
        input_schema: json!({"type": "object"}),
        output_schema: None,
        annotations: Default::default(),
    }
}

/// The message for a call that is not repeated because an earlier attempt may have made it.
pub(in crate::executor) fn unknown(tool: &McpTool) -> String {
    let McpTool { id, server, .. } = tool;
    format!(
        "the agent was interrupted while it called {id}; it is not known whether the MCP server {server} has carried it out, \
         so it is not called again"
    )
}

/// Progress of a call, reported once a second at most.
#[derive(Default)]
struct Pace {
    newest: Option<Progress>,
    said: Option<UnixMillis>,
}

impl Pace {
    fn take(&mut self, progress: Progress) {
        self.newest = Some(progress);
    }

    /// The number of milliseconds until the newest progress may be reported; `None` if there is none to report or
    /// nothing was reported before.
    fn pause_ms(&self, now: UnixMillis) -> Option<u64> {
        let said = self.said.filter(|_| self.newest.is_some())?;
        Some(PROGRESS_MS.saturating_sub(now.millis_since(said)))
    }

    /// The progress text that is due to be reported now.
    fn due(&mut self, now: UnixMillis) -> Option<String> {
        let is_due = self.said.is_none_or(|said| now.millis_since(said) >= PROGRESS_MS);
        let Progress { progress, total, message } = self.newest.take_if(|_| is_due)?;
        self.said = Some(now);
        Some(message.unwrap_or_else(|| match total {
            Some(total) => format!("{} of {}", number_text(progress), number_text(total)),
            None => number_text(progress),
        }))
    }
}

/// The message for a failed request to a server. The message names the server and does not contain the URL.
pub(in crate::executor) fn failure(server: &str, error: &McpError) -> String {
    match error {
        McpError::Unreachable(HttpError::Silent { timeout_ms, .. }) => {
            format!("the MCP server {server} did not answer within {timeout_ms} ms")
        }
        McpError::Unreachable(_) => format!("the MCP server {server} cannot be reached"),
        McpError::Credentials(_) => {
            format!("the credentials for the MCP server {server} are not available")
        }
        McpError::Redirected { status, .. } => {
            format!("the MCP server {server} answered {status}, a redirect that is not followed")
        }
        other => format!("the MCP server {server}: {other}"),
    }
}

/// The timeout for closing the session of a server with the older protocol, in milliseconds.
const CLOSE_MS: u64 = 1_000;

/// The shortest time between two progress reports, in milliseconds.
const PROGRESS_MS: u64 = 1_000;
