//! Tools of MCP servers, as a model calls them.

use futures_util::future::{Either, LocalBoxFuture, pending, select};
use serde_json::{Value, json};

use super::callable::{Callable, ModelCall, Question, Said, Saying};
use super::result;
use crate::executor::tools::CallInTurn;
use crate::executor::tools::mcp::call::{Pace, failure};
use crate::executor::tools::mcp::content::parts_of;
use crate::executor::tools::mcp::plan::{Asked, Way, bare};
use crate::executor::tools::mcp::question;
use crate::executor::tools::offer::McpTool;
use crate::executor::{ExecutorError, StepStart};
use ::mcp::client::{
    Call, CallEvent, Client, McpError, TaskHandle, TaskState as State, ToolRequest,
};
use ::mcp::model::{Answer, CallResult, Question as Asking, Tool};
use a2a::model::Json;
use a2a_agents::tool::ToolCall;
use chat::ToolSpec;

/// A tool of an MCP server.
pub(super) struct ServerTool {
    pub(super) tool: McpTool,
    /// How much of a result the model is told, in bytes.
    pub(super) max_bytes: usize,
}

impl Callable for ServerTool {
    fn spec(&self) -> ToolSpec {
        let Tool { description, input_schema, .. } = &self.tool.tool;
        let is_object = input_schema.get("type").and_then(Value::as_str) == Some("object");
        let parameters = if is_object { input_schema.clone() } else { json!({"type": "object"}) };
        let description = description.as_deref().unwrap_or(&self.tool.description);
        let description = description.chars().take(MAX_DESCRIPTION_CHARS).collect();
        ToolSpec { name: self.tool.id.clone(), description, parameters }
    }

    fn call<'a>(&'a self, call: &'a ModelCall<'a>) -> Saying<'a> {
        Box::pin(self.make(call, None))
    }

    fn answered<'a>(&'a self, call: &'a ModelCall<'a>, kept: &'a Value) -> Saying<'a> {
        Box::pin(async {
            let Some(asked) = Asked::read(kept) else {
                return Ok(Said::error("what the tool had asked cannot be read; call it again"));
            };
            match question::answers(&call.turn.message, &asked.questions) {
                Ok(answers) => self.make(call, Some((asked, answers))).await,
                Err(unfit) => Ok(asks(asked, Some(unfit))),
            }
        })
    }
}

impl ServerTool {
    /// Makes a call, or goes on with one that has asked.
    async fn make(
        &self,
        call: &ModelCall<'_>,
        asked: Option<(Asked, Vec<(String, Answer)>)>,
    ) -> Result<Said, ExecutorError> {
        let turn = call.turn;
        let (client, definition) = match self.reach(call).await {
            Ok(reached) => reached,
            Err(error) => return Ok(Said::error(error.0)),
        };
        let step = format!("{}/task", call.key);
        let nth = match turn.host.begin_step(&step)? {
            StepStart::Done(task) => {
                let task = task.ok().and_then(|task| TaskHandle::read(&task.value()));
                let unfit = || ExecutorError("the stored task of a call cannot be read".to_owned());
                return self.follow(call, &client, task.ok_or_else(unfit)?, &[]).await;
            }
            StepStart::New(nth) => nth,
        };
        let (answers, state, round) = match asked {
            Some((Asked { way: Way::Task(task), .. }, answers)) => {
                // One that was answered by an attempt before takes no notice of the same answers.
                return match client.answer_task(&task, &answers).await {
                    Ok(()) => self.follow(call, &client, task, &answers).await,
                    Err(error) => Ok(self.failed(&error)),
                };
            }
            Some((Asked { way: Way::Round { state, round }, .. }, answers)) => {
                (answers, state, round)
            }
            Some((Asked { way: Way::Held, .. }, _)) | None => (Vec::new(), None, 0),
        };
        if call.is_doubtful && !self.tool.repeats {
            let McpTool { id, server, .. } = &self.tool;
            return Ok(Said::error(format!(
                "this agent was interrupted while it called {id}; it is not known whether the MCP server {server} has carried \
                 it out, so it was not called again"
            )));
        }
        let in_turn = CallInTurn { turn, events: call.events, key: call.key.clone() };
        let arguments = Value::Object(call.arguments.clone());
        let request = ToolRequest::new(&definition, arguments);
        let key = Some(in_turn.idempotency_key());
        let mut made = client.call(ToolRequest { answers, state, round, key, ..request });
        match Box::pin(self.listen(call, &mut made)).await? {
            Heard::Event(CallEvent::Finished(result)) => {
                let closing = turn.host.sleep(CLOSE_MS);
                select(Box::pin(client.close()), closing).await;
                self.finished(call, result)
            }
            Heard::Event(CallEvent::Asked { questions, state, round }) => {
                let way = Way::Round { state, round };
                Ok(asks(Asked { position: 1, questions, way }, None))
            }
            Heard::Event(CallEvent::Task(task)) => {
                turn.end_step(&step, nth, Ok(Json::from(&task.to_json())))?;
                self.follow(call, &client, task, &[]).await
            }
            Heard::Event(CallEvent::LegacyAsked(question)) => {
                // The connection does not outlive the turn that would have to ask.
                made.cancel().await;
                Ok(Said::error(format!(
                    "the server asks in the middle of the call, and takes no later answer: {}",
                    question.message
                )))
            }
            Heard::Event(CallEvent::Progress(_)) => {
                Ok(Said::error("the call ended without a result"))
            }
            Heard::Failed(error) => Ok(self.failed(&error)),
            Heard::Canceled => {
                made.cancel().await;
                Ok(Said::error("canceled"))
            }
        }
    }

    /// The client of the server, and the tool as the server lists it.
    async fn reach(&self, call: &ModelCall<'_>) -> Result<(Client, Tool), ExecutorError> {
        let server = call.turn.mcp_server(&self.tool.server)?;
        let known = call.turn.host.mcp_tools(&server, None).await.ok();
        let client = match &known {
            Some(known) => known.tell(server.client),
            None => server.client,
        };
        let tool = known.and_then(|known| known.tool(&self.tool.tool.name).cloned());
        Ok((client, tool.unwrap_or_else(|| bare(&self.tool.tool.name))))
    }

    /// What the call brings, to its last event. Its progress is told.
    async fn listen(&self, call: &ModelCall<'_>, made: &mut Call) -> Result<Heard, ExecutorError> {
        let turn = call.turn;
        let mut pace = Pace::default();
        loop {
            let pause_ms = pace.pause_ms(turn.now());
            let event = Box::pin(made.next());
            let stop: LocalBoxFuture<'_, bool> = Box::pin(async {
                turn.canceled().await;
                true
            });
            let pause: LocalBoxFuture<'_, bool> = match pause_ms {
                None => Box::pin(pending()),
                Some(pause_ms) => Box::pin(async move {
                    turn.host.sleep(pause_ms).await;
                    false
                }),
            };
            match select(event, select(stop, pause)).await {
                Either::Left((Some(Ok(CallEvent::Progress(progress))), _)) => pace.take(progress),
                Either::Left((Some(Ok(event)), _)) => return Ok(Heard::Event(event)),
                Either::Left((Some(Err(error)), _)) => return Ok(Heard::Failed(error)),
                Either::Left((None, _)) => {
                    let reason = "the call ended without a result".to_owned();
                    return Ok(Heard::Failed(McpError::Lost(reason)));
                }
                Either::Right((Either::Left(_), _)) => return Ok(Heard::Canceled),
                Either::Right((Either::Right(_), _)) => {}
            }
            if let Some(text) = pace.due(turn.now())
                && let Err(refused) = call.events.working(Some(&text))
            {
                return if turn.is_canceled() { Ok(Heard::Canceled) } else { Err(refused) };
            }
        }
    }

    /// Follows a task of the server until it ends, or asks what was not answered.
    async fn follow(
        &self,
        call: &ModelCall<'_>,
        client: &Client,
        task: TaskHandle,
        answers: &[(String, Answer)],
    ) -> Result<Said, ExecutorError> {
        let turn = call.turn;
        let mut told = None;
        loop {
            if turn.is_canceled() {
                let _ = client.cancel_task(&task).await;
                return Ok(Said::error("canceled"));
            }
            match client.task(&task).await {
                Ok(look) => {
                    match look.state {
                        State::Working => {}
                        State::Completed(result) => return self.finished(call, result),
                        State::Failed(error) => {
                            return Ok(self.failed(&McpError::Rpc { error, status: 200 }));
                        }
                        State::Cancelled => return Ok(Said::error("the server has canceled it")),
                        // It takes a moment until an answer is seen.
                        State::Asked(questions) => {
                            let is_new = |question: &Asking| {
                                !answers.iter().any(|(known, _)| *known == question.key)
                            };
                            if questions.iter().any(is_new) {
                                let way = Way::Task(task);
                                return Ok(asks(Asked { position: 1, questions, way }, None));
                            }
                        }
                    }
                    if look.message.is_some() && look.message != told {
                        call.events.working(look.message.as_deref())?;
                        told = look.message;
                    }
                }
                // It may be there again later: the run's own time bounds that.
                Err(error) if error.may_pass() => {}
                Err(error) => return Ok(self.failed(&error)),
            }
            turn.sleep(task.poll_interval_ms.clamp(SHORTEST_POLL_MS, LONGEST_POLL_MS)).await;
        }
    }

    fn finished(&self, call: &ModelCall<'_>, result: CallResult) -> Result<Said, ExecutorError> {
        let is_error = result.is_error;
        let told = result::told(call, &self.tool.tool.name, parts_of(result), self.max_bytes)?;
        Ok(match told {
            Said::Result(text) if is_error => Said::error(match text.trim() {
                "" => "the tool failed, and does not say why",
                text => text,
            }),
            told => told,
        })
    }

    fn failed(&self, error: &McpError) -> Said {
        Said::error(failure(&self.tool.server, error))
    }
}

/// What a call hears last.
enum Heard {
    Event(CallEvent),
    Failed(McpError),
    Canceled,
}

fn asks(asked: Asked, unfit: Option<&str>) -> Said {
    let (state, parts) = question::said(&asked.questions, unfit);
    Said::Asks(Box::new(Question { state, parts, kept: asked.to_json() }))
}

/// How much of a description a model is told, in characters.
const MAX_DESCRIPTION_CHARS: usize = 4_000;

/// How long an older server has to end its session, in milliseconds.
const CLOSE_MS: u64 = 1_000;

/// How often a task of a server is looked at, in milliseconds.
const SHORTEST_POLL_MS: u64 = 500;
const LONGEST_POLL_MS: u64 = 30_000;
