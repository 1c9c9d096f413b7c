//! A call of a tool, and its events.

use std::collections::VecDeque;
use std::rc::Rc;

use a2a::model::UnixMillis;
use futures_util::future::{Either, LocalBoxFuture, select};
use futures_util::stream::{self, LocalBoxStream, StreamExt};
use serde_json::Value;

use super::asking::Asking;
use super::error::excerpt;
use super::exchange::{Exchange, Heard};
use super::live::Live;
use super::message::ResultType;
use super::open::reply;
use super::questions::asked;
use super::{Client, McpError, Progress, TaskHandle, ToolRequest};
use crate::model::{Answer, CallResult, Question, code};

/// An event of a tool's call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEvent {
    /// The progress. The values rise; at most ten events are reported per second, each with the newest value.
    Progress(Progress),
    /// The tool has run. The last event.
    Finished(CallResult),
    /// The server requires answers to all of these questions first. The last event: the caller calls the tool again with the
    /// same arguments, the answers, the state and the round.
    Asked {
        /// The questions.
        questions: Vec<Question>,
        /// The state that the next call must contain.
        state: Option<String>,
        /// The number of rounds, including this one.
        round: u32,
    },
    /// A legacy server asks a question, and waits for [`answer`](Call::answer) during the call.
    LegacyAsked(Question),
    /// The server continues the call as a task. The last event.
    Task(TaskHandle),
}

/// A call of a tool, in progress or not yet sent: the first [`next`](Self::next) sends it.
///
/// Dropping the call closes the connection. A server of 2026-07-28 then cancels the call; a legacy server continues
/// unless [`cancel`](Self::cancel) is called.
pub struct Call {
    client: Client,
    live: Rc<Live>,
    events: LocalBoxStream<'static, Result<CallEvent, McpError>>,
}

impl Client {
    /// Calls a tool. The time limit of the whole call is [`call_timeout_ms`](super::Settings::call_timeout_ms). The first
    /// [`next`](Call::next) sends the request, and the call is sent again only if it is certain that the server has not
    /// executed it.
    pub fn call(&self, request: ToolRequest<'_>) -> Call {
        let live = Rc::<Live>::default();
        let running = Box::new(Running {
            client: self.clone(),
            asking: Asking::from(request),
            live: Rc::clone(&live),
            heard: None,
            deadline: None,
            events: VecDeque::new(),
            newest: None,
            pending: None,
            told: None,
            has_listed: false,
            is_over: false,
        });
        let events = stream::unfold(running, |mut running| async {
            let event = running.next().await?;
            Some((event, running))
        });
        Call { client: self.clone(), live, events: events.boxed_local() }
    }
}

impl Call {
    /// The next event; `None` after the last event, or after an error. If the future is dropped while it waits, no
    /// event is lost: a later call of `next` continues the wait.
    ///
    /// # Errors
    ///
    /// If the server refuses the call or cannot be called. A failure of the tool itself is not an error: see
    /// [`CallResult::is_error`].
    pub fn next<'a>(&'a mut self) -> LocalBoxFuture<'a, Option<Result<CallEvent, McpError>>> {
        Box::pin(async move { self.events.next().await })
    }

    /// Answers a [question of a legacy server](CallEvent::LegacyAsked), once.
    ///
    /// # Errors
    ///
    /// If there is no such question, or if the answer cannot be sent.
    pub fn answer<'a>(
        &'a self,
        key: &'a str,
        answer: &'a Answer,
    ) -> LocalBoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let asked = self.live.take_question(key).zip(self.live.unanswered());
            let Some((id, (_, session))) = asked else {
                let reason =
                    format!("the call has no question {} that waits for an answer", excerpt(key));
                return Err(McpError::Unexpected(reason));
            };
            let message = reply(id, "result", answer.to_json());
            self.client.tell(&session, &message).await
        })
    }

    /// Cancels the call, in the way of the server's era: the connection is closed, and a legacy server is notified. No event
    /// follows.
    pub fn cancel<'a>(&'a mut self) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            self.events = stream::empty().boxed_local();
            self.client.tell_cancel(&self.live, "the caller gave the call up").await;
        })
    }
}

/// The state of a call.
struct Running {
    client: Client,
    asking: Asking,
    live: Rc<Live>,
    heard: Option<LocalBoxStream<'static, Result<Heard, McpError>>>,
    /// The timer for the end of the whole call.
    deadline: Option<LocalBoxFuture<'static, ()>>,
    /// The events that are ready.
    events: VecDeque<Result<CallEvent, McpError>>,
    /// The value of the newest progress.
    newest: Option<f64>,
    /// The progress that waits until it may be reported.
    pending: Option<Progress>,
    /// The instant of the last report of progress.
    told: Option<UnixMillis>,
    /// True if the tool was already listed again.
    has_listed: bool,
    is_over: bool,
}

/// The first event that a waiting call receives.
enum First {
    Heard(Option<Result<Heard, McpError>>),
    Pause,
    Deadline,
}

impl Running {
    async fn next(&mut self) -> Option<Result<CallEvent, McpError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            if let Some(event) = self.due() {
                return Some(Ok(event));
            }
            if self.heard.is_none()
                && let Err(error) = self.begin().await
            {
                self.end(Err(error));
                continue;
            }
            match self.first().await {
                First::Heard(Some(Ok(Heard::Progress(progress)))) => self.take_progress(progress),
                First::Heard(Some(Ok(Heard::Asked(question)))) => {
                    self.tell_pending();
                    self.events.push_back(Ok(CallEvent::LegacyAsked(question)));
                }
                First::Heard(Some(Ok(Heard::Result(result)))) => self.take_result(&result).await,
                First::Heard(Some(Err(error))) => self.take_error(error).await,
                First::Heard(None) => self.is_over = true,
                First::Pause => {}
                First::Deadline => {
                    self.heard = None;
                    self.client.tell_cancel(&self.live, "the time of the call is over").await;
                    let timeout_ms = self.client.settings().call_timeout_ms;
                    self.end(Err(McpError::Timeout { timeout_ms }));
                }
            }
        }
    }

    /// Sends the request. The first time, the timer of the deadline is started.
    fn begin<'a>(&'a mut self) -> LocalBoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let client = self.client.clone();
            client.settings().check()?;
            let timeout_ms = client.settings().call_timeout_ms;
            let clock = &client.ports().clock;
            let deadline = self.deadline.get_or_insert_with(|| clock.sleep(timeout_ms));
            let is_modern = match select(Box::pin(client.is_modern()), deadline).await {
                Either::Left((is_modern, _)) => is_modern?,
                Either::Right(_) => return Err(McpError::Timeout { timeout_ms }),
            };
            let ask = self.asking.ask(&client, is_modern)?;
            self.heard = Some(Exchange::new(client, ask, Rc::clone(&self.live)).into_stream());
            Ok(())
        })
    }

    /// Waits for the server, for the next time to report progress, and for the deadline.
    fn first<'a>(&'a mut self) -> LocalBoxFuture<'a, First> {
        Box::pin(async move {
            let (Some(heard), Some(deadline)) = (&mut self.heard, &mut self.deadline) else {
                return First::Heard(None);
            };
            let clock = &self.client.ports().clock;
            let pause = match (&self.pending, self.told) {
                (Some(_), Some(told)) => {
                    let left = PROGRESS_MS.saturating_sub(clock.now().millis_since(told));
                    clock.sleep(left)
                }
                _ => Box::pin(std::future::pending()),
            };
            match select(heard.next(), select(deadline, pause)).await {
                Either::Left((heard, _)) => First::Heard(heard),
                Either::Right((Either::Left(_), _)) => First::Deadline,
                Either::Right((Either::Right(_), _)) => First::Pause,
            }
        })
    }

    /// The pending progress, if it has waited long enough.
    fn due(&mut self) -> Option<CallEvent> {
        let now = self.client.ports().clock.now();
        let is_due = self.told.is_none_or(|told| now.millis_since(told) >= PROGRESS_MS);
        let progress = self.pending.take_if(|_| is_due)?;
        self.told = Some(now);
        Some(CallEvent::Progress(progress))
    }

    /// Stores progress if it has risen. Progress in quick succession is reported once.
    fn take_progress(&mut self, progress: Progress) {
        if self.newest.is_none_or(|newest| progress.progress > newest) {
            self.newest = Some(progress.progress);
            self.pending = Some(progress);
        }
    }

    fn tell_pending(&mut self) {
        let pending = self.pending.take().map(CallEvent::Progress);
        self.events.extend(pending.map(Ok));
    }

    /// Adds the last event.
    fn end(&mut self, event: Result<CallEvent, McpError>) {
        self.tell_pending();
        self.events.push_back(event);
        self.is_over = true;
        self.heard = None;
    }

    fn take_result<'a>(&'a mut self, result: &'a Value) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            let event = match ResultType::of(result) {
                Ok(ResultType::Complete) => {
                    CallResult::read(result).map(CallEvent::Finished).ok_or_else(|| {
                        let reason = "the result has neither content nor structuredContent";
                        McpError::NotMcp(reason.to_owned())
                    })
                }
                Ok(ResultType::InputRequired) => match asked(result) {
                    Ok((questions, state)) if questions.is_empty() => {
                        return self.call_again(state).await;
                    }
                    Ok((questions, state)) => {
                        Ok(CallEvent::Asked { questions, state, round: self.asking.round + 1 })
                    }
                    Err(error) => Err(error),
                },
                Ok(ResultType::Task) => TaskHandle::of(result).map(CallEvent::Task),
                Err(error) => Err(error),
            };
            self.end(event);
        })
    }

    /// Calls the tool again, without answers, because the server requires it.
    fn call_again<'a>(&'a mut self, state: Option<String>) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            if state.is_none() {
                let reason = "the server wants input, and asks nothing";
                return self.end(Err(McpError::Unexpected(reason.to_owned())));
            }
            if self.asking.round > 0 {
                self.client.ports().clock.sleep(AGAIN_MS).await;
            }
            self.asking.goes_on(state);
            self.heard = None;
        })
    }

    fn take_error<'a>(&'a mut self, error: McpError) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            match error.code() {
                // The definition of the tool has changed since the list was read.
                Some(code::HEADER_MISMATCH) if !std::mem::replace(&mut self.has_listed, true) => {
                    let name = self.asking.tool.name.clone();
                    let listed = Box::pin(self.client.list_tools()).await;
                    let tools = listed.map(|list| list.tools).unwrap_or_default();
                    match tools.into_iter().find(|tool| tool.name == name) {
                        Some(tool) => {
                            self.asking.tool = tool;
                            self.heard = None;
                        }
                        None => self.end(Err(error)),
                    }
                }
                Some(code::URL_REQUIRED) => match urls(&error) {
                    questions if questions.is_empty() => self.end(Err(error)),
                    questions => {
                        let round = self.asking.round + 1;
                        self.end(Ok(CallEvent::Asked { questions, state: None, round }));
                    }
                },
                _ => self.end(Err(error)),
            }
        })
    }
}

/// The URLs that a server of 2025-11-25 requires its user to visit before the call is repeated.
fn urls(error: &McpError) -> Vec<Question> {
    let McpError::Rpc { error, .. } = error else { return Vec::new() };
    let data = error.data.as_ref().and_then(|data| data.get("elicitations"));
    let list = data.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|params| {
        let key = params.get("elicitationId").and_then(Value::as_str).unwrap_or("url");
        let is_url = params.get("mode").and_then(Value::as_str) == Some("url");
        Question::read(key, params).filter(|_| is_url)
    })
    .collect()
}

/// The shortest time between two reports of progress, in milliseconds.
const PROGRESS_MS: u64 = 100;

/// The delay before a repetition that the server requests after the first one, in milliseconds.
const AGAIN_MS: u64 = 1_000;
