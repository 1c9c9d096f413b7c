//! One call of a tool of an MCP server, to its result, its question or its task.

use futures_util::future::{Either, LocalBoxFuture, pending, select};
use serde_json::{Map, Value, json};

use super::super::call::CallInTurn;
use super::super::offer::McpTool;
use super::super::{Flow, StepStart, artifact, shown};
use super::plan::{Asked, Plan, Way, bare};
use super::{ASKED, Run, content, question, read_plan};
use crate::executor::ExecutorError;
use crate::port::HttpError;
use ::mcp::client::{Call, CallEvent, Client, McpError, Progress, TaskHandle, ToolRequest};
use ::mcp::model::{Answer, CallResult, Question};
use a2a::model::{Artifact, Json, Message, Metadata, Part, UnixMillis};
use a2a_agents::tool::{Fault, ToolCall};

/// A call that a run makes.
pub(super) struct McpCall<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) plan: &'a Plan,
    pub(super) tool: &'a McpTool,
    /// Which of the calls of its message it is, from 1.
    pub(super) position: usize,
    /// Whether an earlier attempt may have made it.
    pub(super) is_doubtful: bool,
}

/// What a message of the client answers.
#[derive(Default)]
pub(super) struct Answers {
    /// What was asked, if something was.
    pub(super) asked: Option<Asked>,
    /// The answers, each with the key of its question.
    pub(super) answers: Vec<(String, Answer)>,
}

/// How a call ends.
pub(super) enum End {
    /// The tool has run.
    Finished(CallResult),
    /// The server asks, and is called again with the answers.
    Asked(Vec<Question>, Way),
    /// The server goes on with it as a task.
    Task(TaskHandle),
    /// It has failed.
    Failed(McpError),
    /// The client has canceled the task.
    Canceled,
}

/// What a call that is under way hears first.
enum Heard {
    Event(Option<Result<CallEvent, McpError>>),
    Message(Message),
    Canceled,
    Pause,
}

impl McpCall<'_> {
    /// Makes the call, or goes on with it.
    ///
    /// # Errors
    ///
    /// Why the run fails.
    pub(super) async fn make(
        &self,
        arguments: Map<String, Value>,
        answers: Answers,
    ) -> Result<Flow, ExecutorError> {
        let (client, definition) = Box::pin(self.reach()).await?;
        let handle_step = format!("{}/task", self.position);
        let nth = match self.run.turn.host.begin_step(&handle_step)? {
            StepStart::Done(task) => {
                let task = task.ok().and_then(|task| TaskHandle::read(&task.value()));
                let unfit = || ExecutorError("the stored task of a call cannot be read".to_owned());
                let task = task.ok_or_else(unfit)?;
                return Box::pin(self.follow(&client, task, &answers)).await;
            }
            StepStart::New(nth) => nth,
        };
        let keep = |task: &TaskHandle| {
            let stored = Json::from(&task.to_json());
            self.run.turn.end_step(&handle_step, nth, Ok(stored))
        };
        let (state, round) = match answers.asked.as_ref().map(|asked| asked.way.clone()) {
            Some(Way::Task(task)) => {
                // One that was answered by an attempt before takes no notice of the same answers.
                return match client.answer_task(&task, &answers.answers).await {
                    Ok(()) => {
                        keep(&task)?;
                        Box::pin(self.follow(&client, task, &answers)).await
                    }
                    Err(error) => self.end(End::Failed(error)),
                };
            }
            Some(Way::Round { state, round }) => (state, round),
            Some(Way::Held) | None => (None, 0),
        };
        if self.is_doubtful {
            // What it has asked is stored before it shows.
            if let Some(asked) = self.was_asked()? {
                self.run.say_question(&asked.questions, None)?;
                return Ok(Flow::Over);
            }
            if !self.tool.repeats {
                let McpTool { id, server, .. } = self.tool;
                let reason = format!(
                    "the agent was interrupted while it called {id}; it is not known whether the MCP server {server} has \
                     carried it out, so it is not called again"
                );
                return self.fail(&reason, vec![Part::text(reason.clone())], Fault::Upstream, None);
            }
        }
        let Answers { answers, .. } = answers;
        let (turn, events) = (self.run.turn, self.run.events);
        let in_turn = CallInTurn { turn, events, key: self.position.to_string() };
        let key = Some(in_turn.idempotency_key());
        let request = ToolRequest::new(&definition, arguments.into());
        let mut call = client.call(ToolRequest { answers, state, round, key, ..request });
        match Box::pin(self.listen(&mut call)).await? {
            End::Task(task) => {
                keep(&task)?;
                Box::pin(self.follow(&client, task, &Answers::default())).await
            }
            End::Canceled => {
                call.cancel().await;
                Ok(Flow::Over)
            }
            end => {
                // Before the end is said: a crash in between would find a call whose end is told and not kept.
                let closing = self.run.turn.host.sleep(CLOSE_MS);
                select(Box::pin(client.close()), closing).await;
                self.end(end)
            }
        }
    }

    /// The client of the server, and the tool as the server lists it.
    async fn reach(&self) -> Result<(Client, ::mcp::model::Tool), ExecutorError> {
        let name = &self.tool.server;
        let server = self.run.turn.mcp_server(name)?;
        // A call needs no list, but can be made without further questions by one who has it.
        let known = self.run.known(name, &server, false).await.ok();
        let client = match &known {
            Some(known) => known.tell(server.client),
            None => server.client,
        };
        let tool = known.and_then(|known| known.tool(&self.tool.tool.name).cloned());
        Ok((client, tool.unwrap_or_else(|| bare(&self.tool.tool.name))))
    }

    /// What the call brings, until it ends.
    async fn listen(&self, call: &mut Call) -> Result<End, ExecutorError> {
        let mut pace = Pace::default();
        let mut held: Option<Question> = None;
        loop {
            let heard = self.hear(call, pace.pause_ms(self.run.turn.now()), held.is_some()).await;
            match heard {
                Heard::Canceled => return Ok(End::Canceled),
                Heard::Pause => {}
                Heard::Message(message) => {
                    let Some(question) = &held else { continue };
                    match question::answers(&message, std::slice::from_ref(question)) {
                        Ok(answers) => {
                            for (key, answer) in answers {
                                if let Err(error) = call.answer(&key, &answer).await {
                                    return Ok(End::Failed(error));
                                }
                            }
                            held = None;
                        }
                        Err(unfit) => {
                            self.run.say_question(std::slice::from_ref(question), Some(unfit))?;
                        }
                    }
                }
                Heard::Event(Some(Ok(CallEvent::Progress(progress)))) => pace.take(progress),
                Heard::Event(Some(Ok(CallEvent::LegacyAsked(question)))) => {
                    let questions = vec![question.clone()];
                    self.ask(&questions, Way::Held)?;
                    held = Some(question);
                }
                Heard::Event(Some(Ok(CallEvent::Finished(result)))) => {
                    return Ok(End::Finished(result));
                }
                Heard::Event(Some(Ok(CallEvent::Asked { questions, state, round }))) => {
                    return Ok(End::Asked(questions, Way::Round { state, round }));
                }
                Heard::Event(Some(Ok(CallEvent::Task(task)))) => return Ok(End::Task(task)),
                Heard::Event(Some(Err(McpError::Timeout { timeout_ms }))) if held.is_some() => {
                    let reason = format!("nobody has answered its question within {timeout_ms} ms");
                    return Ok(End::Failed(McpError::Unexpected(reason)));
                }
                Heard::Event(Some(Err(error))) => return Ok(End::Failed(error)),
                Heard::Event(None) => {
                    let reason = "the call ended without a result".to_owned();
                    return Ok(End::Failed(McpError::Lost(reason)));
                }
            }
            // While the client is asked something, its task does not say that it works.
            if held.is_none()
                && let Some(text) = pace.due(self.run.turn.now())
                && let Err(refused) = self.run.events.working(Some(&text))
            {
                return if self.run.turn.is_canceled() { Ok(End::Canceled) } else { Err(refused) };
            }
        }
    }

    async fn hear(&self, call: &mut Call, pause_ms: Option<u64>, is_asking: bool) -> Heard {
        let turn = self.run.turn;
        let event = Box::pin(async { Heard::Event(call.next().await) });
        let canceled: LocalBoxFuture<'_, Heard> = Box::pin(async {
            turn.canceled().await;
            Heard::Canceled
        });
        let pause: LocalBoxFuture<'_, Heard> = match (pause_ms, is_asking) {
            (_, true) => Box::pin(async { Heard::Message(turn.next_message().await) }),
            (Some(pause_ms), false) => Box::pin(async move {
                turn.host.sleep(pause_ms).await;
                Heard::Pause
            }),
            (None, false) => Box::pin(pending()),
        };
        match select(canceled, select(event, pause)).await {
            Either::Left((heard, _)) => heard,
            Either::Right((Either::Left((heard, _)), _)) => heard,
            Either::Right((Either::Right((heard, _)), _)) => heard,
        }
    }

    /// Says how the call ended.
    pub(super) fn end(&self, end: End) -> Result<Flow, ExecutorError> {
        let McpTool { id, server, .. } = self.tool;
        match end {
            End::Finished(result) if result.is_error => {
                let text: String = result.text().chars().take(MAX_REASON_CHARS).collect();
                let reason = match text.trim() {
                    "" => format!("{id} failed, and does not say why"),
                    text => format!("{id} failed: {text}"),
                };
                self.fail(&reason, content::parts_of(result), Fault::Tool, None)
            }
            End::Finished(result) => {
                let parts = content::parts_of(result).into_iter();
                let parts = parts.map(|part| shown(part, self.run.turn)).collect();
                let kept = self.run.events.artifact(artifact(id, self.position, parts));
                let unkept = |error: ExecutorError| {
                    ExecutorError(format!("{id} gave a result that cannot be kept: {error}"))
                };
                kept.map(|()| Flow::GoesOn).map_err(unkept)
            }
            End::Asked(questions, way) => {
                self.ask(&questions, way)?;
                Ok(Flow::Over)
            }
            End::Failed(error) => {
                let code = match &error {
                    McpError::Rpc { error, .. } => Some(error.code),
                    _ => None,
                };
                let reason = failure(server, &error);
                let parts = vec![Part::text(reason.clone())];
                self.fail(&format!("{id} failed: {reason}"), parts, Fault::Upstream, code)
            }
            End::Task(_) | End::Canceled => Ok(Flow::Over),
        }
    }

    /// Ends the task: the call has failed.
    pub(super) fn fail(
        &self,
        reason: &str,
        parts: Vec<Part>,
        fault: Fault,
        code: Option<i64>,
    ) -> Result<Flow, ExecutorError> {
        let mut members = Map::new();
        members.insert("isError".to_owned(), json!(true));
        members.insert("fault".to_owned(), json!(fault.name()));
        members.extend(code.map(|code| ("code".to_owned(), json!(code))));
        let parts = parts.into_iter().map(|part| shown(part, self.run.turn)).collect();
        let metadata = Some(Metadata::from(members));
        let failed = artifact(&self.tool.id, self.position, parts);
        self.run.events.artifact(Artifact { metadata, ..failed })?;
        self.run.events.fail(reason)?;
        Ok(Flow::Over)
    }

    /// Asks the client. What is needed to go on is stored before it shows.
    pub(super) fn ask(&self, questions: &[Question], way: Way) -> Result<(), ExecutorError> {
        let nth = match self.run.asking.take() {
            Some(nth) => nth,
            None => self.run.begin_new(ASKED)?,
        };
        let asked = Asked { position: self.position, questions: questions.to_vec(), way };
        let plan = Plan { answers: Some(Box::new(asked)), ..self.plan.clone() };
        self.run.turn.end_step(ASKED, nth, Ok(Json::from(&plan.to_json())))?;
        self.run.say_question(questions, None)
    }

    /// What an earlier attempt of this run was asked by this call, if that was stored and not shown.
    fn was_asked(&self) -> Result<Option<Asked>, ExecutorError> {
        loop {
            match self.run.turn.host.begin_step(ASKED)? {
                StepStart::New(nth) => {
                    self.run.asking.set(Some(nth));
                    return Ok(None);
                }
                StepStart::Done(plan) => {
                    let asked = read_plan(plan.map(|plan| plan.value()))?.answers;
                    let is_this =
                        |asked: &Asked| asked.position == self.position && asked.way != Way::Held;
                    if let Some(asked) = asked.filter(|asked| is_this(asked)) {
                        return Ok(Some(*asked));
                    }
                }
            }
        }
    }
}

/// Progress of a call, which is said once a second at most.
#[derive(Default)]
pub(in crate::executor) struct Pace {
    newest: Option<Progress>,
    said: Option<UnixMillis>,
}

impl Pace {
    pub(in crate::executor) fn take(&mut self, progress: Progress) {
        self.newest = Some(progress);
    }

    /// After how long something is to be said, if there is something.
    pub(in crate::executor) fn pause_ms(&self, now: UnixMillis) -> Option<u64> {
        let said = self.said.filter(|_| self.newest.is_some())?;
        Some(PROGRESS_MS.saturating_sub(now.millis_since(said)))
    }

    /// What is to be said now.
    pub(in crate::executor) fn due(&mut self, now: UnixMillis) -> Option<String> {
        let is_due = self.said.is_none_or(|said| now.millis_since(said) >= PROGRESS_MS);
        let Progress { progress, total, message } = self.newest.take_if(|_| is_due)?;
        self.said = Some(now);
        Some(message.unwrap_or_else(|| match total {
            Some(total) => format!("{progress} of {total}"),
            None => progress.to_string(),
        }))
    }
}

/// Why a server could not do what it was asked for: with its name, and without its URL.
pub(in crate::executor) fn failure(server: &str, error: &McpError) -> String {
    match error {
        McpError::Unreachable(HttpError::Silent { timeout_ms, .. }) => {
            format!("the MCP server {server} did not answer within {timeout_ms} ms")
        }
        McpError::Unreachable(_) => format!("the MCP server {server} cannot be reached"),
        McpError::Credentials(_) => {
            format!("the credentials for the MCP server {server} cannot be had")
        }
        McpError::Redirected { status, .. } => {
            format!("the MCP server {server} answered {status}, a redirect that is not followed")
        }
        other => format!("the MCP server {server}: {other}"),
    }
}

/// How long an older server has to end its session, in milliseconds.
const CLOSE_MS: u64 = 1_000;

/// The shortest time between two notes of progress, in milliseconds.
const PROGRESS_MS: u64 = 1_000;

/// How much of the reason of a failure the status says, in characters. The artifact has all of it.
const MAX_REASON_CHARS: usize = 4_000;
