//! The call for most uses: sends a message, follows its task until it ends or asks a question, and returns the outcome.

use futures_util::StreamExt;
use futures_util::future::{Either, select};

use super::{CallOptions, Client, ClientError, TaskEvent, TaskStream, apply, extract_text};
use crate::call::{Call, TaskCall};
use crate::http::HttpError;
use crate::model::{
    CancelTaskRequest, Message, Role, SendMessageConfiguration, SendMessageRequest, StreamResponse,
    Task, TaskId, TaskState, UnixMillis,
};

/// The result of a send.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The kind of the outcome.
    pub outcome: Outcome,
    /// The result, the question or the reason for the failure:
    ///
    /// - completed: all text parts of all artifacts; if there are none, the text of the status, else the last message of the agent
    /// - input required, auth required: the text of the status, else the last message of the agent
    /// - failed, canceled: the text of the status, else a fixed sentence; `submit failed: …` if no task was started, for example `submit
    ///   failed: HTTP 502`
    /// - timeout: a fixed sentence
    pub text: String,
    /// The last known version of the task; `None` if there is no task.
    pub task: Option<Task>,
    /// The message that the agent returned instead of a task.
    pub message: Option<Message>,
    /// The error, if the message could not be sent or its task could not be followed to its end; `None` otherwise, also if the task
    /// itself failed.
    pub error: Option<ClientError>,
}

/// The ways in which a send can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The task completed, or the agent returned a message.
    Completed,
    /// The agent asks a question; the caller answers with a message that contains the task's id.
    InputRequired,
    /// The agent asks for credentials.
    AuthRequired,
    /// The task failed or was rejected, or the message could not be sent, or the task could not be followed.
    Failed,
    /// The task was canceled, by this client or by somebody else.
    Canceled,
    /// The time limit has passed; the client has tried to cancel the task.
    Timeout,
}

/// Options for observing a send. By default no function is called.
#[derive(Default)]
pub struct Observe<'a> {
    /// Called before the message is sent, between events, before each poll, and at least once in every
    /// [`poll_interval_ms`](super::Settings::poll_interval_ms) of waiting. After it returns true, the task is canceled, and the outcome is
    /// [`Outcome::Canceled`], independent of the agent's answer.
    pub is_canceled: Option<&'a dyn Fn() -> bool>,
    /// Called with each event, in order.
    pub on_event: Option<&'a mut dyn FnMut(&TaskEvent)>,
    /// The `Idempotency-Key`, and a deadline, used if it is earlier than the [`timeout_ms`](super::Settings::timeout_ms) of the settings.
    pub options: CallOptions,
    /// The time limit for canceling the remote task, with retries, in milliseconds; 10,000 by default.
    pub cancel_ms: Option<u64>,
}

impl Client {
    /// Sends a message, and follows its task until the task ends or asks a question. A message with a `task_id` continues that task, for
    /// example to answer its question.
    ///
    /// `is_canceled` is called between events, before each poll, and while the client waits; after it returns true, the remote task is
    /// canceled. The limit [`timeout_ms`](super::Settings::timeout_ms) of the settings applies to the whole call: when it has passed, the
    /// client tries to cancel the remote task for up to 10 s. If the agent has not answered the message, the task's id is unknown, and the
    /// task cannot be canceled.
    pub async fn send_and_observe(
        &self,
        message: Message,
        is_canceled: impl Fn() -> bool,
    ) -> Observed {
        let configuration = SendMessageConfiguration::default();
        let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
        let observe = Observe { is_canceled: Some(&is_canceled), ..Observe::default() };
        self.observe(request, observe).await
    }

    /// Does the same as [`send_and_observe`](Self::send_and_observe), with more options: the configuration of the send, a function that
    /// receives the events, and a deadline.
    ///
    /// ```
    /// # use a2a::client::simulation::{Simulation, SimulatedAnswer};
    /// # use a2a::client::{Client, Observe, Outcome, Settings, create_message};
    /// # use a2a::model::{SendMessageConfiguration, SendMessageRequest};
    /// # let simulation = Simulation::default();
    /// # simulation.serve("agent.example", |request| match request.method {
    /// #     "GET" => SimulatedAnswer::card("https://agent.example/"),
    /// #     _ => SimulatedAnswer::events([serde_json::json!({"jsonrpc": "2.0", "id": "1", "result": {"task":
    /// #         {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"},
    /// #         "artifacts": [{"artifactId": "a", "parts": [{"text": "done"}]}]}}})]),
    /// # });
    /// # let client = Client::new(Settings::new("https://agent.example"), simulation.ports());
    /// let message = create_message("hello", client.ports());
    /// let configuration = SendMessageConfiguration::default();
    /// let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
    /// let mut count = 0;
    /// let mut on_event = |_: &_| count += 1;
    /// let observe = Observe { on_event: Some(&mut on_event), ..Observe::default() };
    /// let observed = simulation.run(client.observe(request, observe));
    /// assert_eq!((observed.outcome, observed.text.as_str(), count), (Outcome::Completed, "done", 1));
    /// ```
    pub async fn observe(&self, request: SendMessageRequest, observe: Observe<'_>) -> Observed {
        let own = self.ports().clock.now().after(self.settings().timeout_ms);
        let deadline = observe.options.deadline.map_or(own, |deadline| deadline.min(own));
        let (mut watch, options) = self.watch(observe, deadline);
        watch.is_answer = request.message.task_id.is_some();
        if watch.is_canceled() {
            return canceled(None);
        }
        // `Watch` enforces the deadline, because it can cancel the task; the stream gets no deadline.
        let options = CallOptions { deadline: None, ..options };
        let stream = self.send_streaming_with(request, options);
        Box::pin(watch.follow(stream, None)).await
    }

    /// Follows an existing task until it ends or asks a question, as [`observe`](Self::observe) does after its send. `known`
    /// is the last known version of the task. If the task is interrupted, the client waits until it has continued.
    pub async fn observe_task(&self, known: Task, observe: Observe<'_>) -> Observed {
        let own = self.ports().clock.now().after(self.settings().timeout_ms);
        let deadline = observe.options.deadline.map_or(own, |deadline| deadline.min(own));
        let (mut watch, options) = self.watch(observe, deadline);
        if known.status.state.is_terminal() {
            return ended(known);
        }
        let stream = self.resume(known.clone(), options.last_event_id);
        Box::pin(watch.follow(stream, Some(known))).await
    }

    /// Follows the task of an open stream, for example of a [send](Self::send_streaming), until the task ends or asks a question, as
    /// [`observe`](Self::observe) does after its send. `is_answer` must be true if the message of the stream continues a task: the question
    /// in the first event may then be the one that the message has already answered, and is ignored.
    pub async fn observe_stream(
        &self,
        events: TaskStream,
        is_answer: bool,
        observe: Observe<'_>,
    ) -> Observed {
        let own = self.ports().clock.now().after(self.settings().timeout_ms);
        let deadline = observe.options.deadline.map_or(own, |deadline| deadline.min(own));
        let (mut watch, _) = self.watch(observe, deadline);
        watch.is_answer = is_answer;
        Box::pin(watch.follow(events, None)).await
    }

    fn watch<'a>(&self, observe: Observe<'a>, deadline: UnixMillis) -> (Watch<'a>, CallOptions) {
        let Observe { is_canceled, on_event, options, cancel_ms } = observe;
        let (client, begin) = (self.clone(), self.ports().clock.now());
        let (is_answer, cancel_ms) = (false, cancel_ms.unwrap_or(CANCEL_MS));
        let watch = Watch { client, begin, deadline, is_canceled, on_event, is_answer, cancel_ms };
        (watch, options)
    }
}

impl Observed {
    /// The outcome for an agent that returns a message instead of a task.
    pub fn answered(message: &Message) -> Self {
        let text = message.text();
        Self { message: Some(message.clone()), ..Self::came_to(Outcome::Completed, text, None) }
    }

    /// The outcome of a call that has timed out, with the task if it is known.
    pub fn timed_out(after_ms: u64, task: Option<Task>) -> Self {
        let text = format!("timed out after {after_ms} ms");
        let error = Some(ClientError::Timeout);
        Self { error, ..Self::came_to(Outcome::Timeout, text, task) }
    }

    fn came_to(outcome: Outcome, text: String, task: Option<Task>) -> Self {
        Self { outcome, text, task, message: None, error: None }
    }

    /// The outcome of a task.
    ///
    /// # Errors
    ///
    /// The task itself, if it has not ended and does not wait for input or credentials.
    pub fn of(task: Task) -> Result<Self, Box<Task>> {
        match task.status.state {
            state if state.is_terminal() => Ok(ended(task)),
            state if state.is_interrupted() => Ok(asked(task)),
            _ => Err(Box::new(task)),
        }
    }
}

/// A task that is being observed.
struct Watch<'a> {
    client: Client,
    begin: UnixMillis,
    deadline: UnixMillis,
    is_canceled: Option<&'a dyn Fn() -> bool>,
    on_event: Option<&'a mut dyn FnMut(&TaskEvent)>,
    /// True if the message continues a task, so that the first snapshot of the task may be older than the message.
    is_answer: bool,
    /// The time limit for canceling the task, with retries, in milliseconds.
    cancel_ms: u64,
}

/// The result of a wait.
enum Waited {
    Event(Box<Option<Result<TaskEvent, ClientError>>>),
    Canceled,
    TimeOver,
}

impl Watch<'_> {
    fn is_canceled(&self) -> bool {
        self.is_canceled.is_some_and(|is_canceled| is_canceled())
    }

    async fn follow(&mut self, mut stream: TaskStream, mut task: Option<Task>) -> Observed {
        loop {
            let event = match self.next(&mut stream).await {
                Waited::Event(event) => *event,
                Waited::Canceled => return self.cancel(stream, task).await,
                Waited::TimeOver => return self.time_out(task).await,
            };
            let event = match event {
                Some(Ok(event)) => event,
                Some(Err(ClientError::Timeout)) => return self.time_out(task).await,
                Some(Err(error)) => return broken(error, task),
                None => return stopped(task),
            };
            if let Some(on_event) = &mut self.on_event {
                on_event(&event);
            }
            apply(&mut task, &event.event);
            let asks = match &event.event {
                StreamResponse::Message(message) if task.is_none() => {
                    return Observed::answered(message);
                }
                StreamResponse::StatusUpdate(event) => event.status.state.is_interrupted(),
                StreamResponse::Task(task) => !self.is_answer && task.status.state.is_interrupted(),
                StreamResponse::Message(_) | StreamResponse::ArtifactUpdate(_) => false,
            };
            if let Some(task) = task.take_if(|_| asks) {
                return asked(task);
            }
        }
    }

    /// The next event, unless `is_canceled` returns true or the time is over.
    async fn next(&mut self, stream: &mut TaskStream) -> Waited {
        let clock = self.client.ports().clock.clone();
        let mut next = stream.next();
        loop {
            if self.is_canceled() {
                return Waited::Canceled;
            }
            let left_ms = self.deadline.millis_since(clock.now());
            if left_ms == 0 {
                return Waited::TimeOver;
            }
            let wait_ms = match self.is_canceled {
                Some(_) => left_ms.min(self.client.settings().poll_interval_ms.max(1)),
                None => left_ms,
            };
            // The timer is polled first, so that a cancellation is noticed before the next poll of the task.
            match select(clock.sleep(wait_ms), next).await {
                Either::Left((_, waiting)) => next = waiting,
                Either::Right((event, _)) => return Waited::Event(Box::new(event)),
            }
        }
    }

    /// Cancels the task. If no event has arrived yet, the task's id is unknown: then the first event is awaited before the cancellation.
    async fn cancel(&mut self, mut stream: TaskStream, mut task: Option<Task>) -> Observed {
        let clock = self.client.ports().clock.clone();
        let end = clock.now().after(self.cancel_ms).min(self.deadline);
        if task.is_none() {
            let left_ms = end.millis_since(clock.now());
            if let Either::Left((Some(Ok(event)), _)) =
                select(stream.next(), clock.sleep(left_ms)).await
            {
                apply(&mut task, &event.event);
            }
        }
        drop(stream);
        if let Some(known) = &mut task {
            self.end_remote(known).await;
        }
        canceled(task)
    }

    async fn time_out(&mut self, mut task: Option<Task>) -> Observed {
        if let Some(known) = &mut task {
            self.end_remote(known).await;
        }
        Observed::timed_out(self.deadline.millis_since(self.begin), task)
    }

    /// Cancels the remote task, and updates `task` from the server's answer.
    async fn end_remote(&self, task: &mut Task) {
        if task.status.state.is_terminal() {
            return;
        }
        let deadline = self.client.ports().clock.now().after(self.cancel_ms);
        if let Ok(now) = self.client.cancel_until(task.id.clone(), deadline).await {
            let mut known = Some(task.clone());
            apply(&mut known, &StreamResponse::Task(now));
            *task = known.unwrap_or_else(|| task.clone());
        }
    }
}

impl Client {
    /// Cancels a task, with retries until the deadline, and returns the task after the cancellation. If the task cannot be canceled because
    /// it has just ended, its final state is returned.
    ///
    /// # Errors
    ///
    /// If the agent refuses the cancellation, or cannot be called.
    pub async fn cancel_until(
        &self,
        id: TaskId,
        deadline: UnixMillis,
    ) -> Result<Task, ClientError> {
        let options = CallOptions { deadline: Some(deadline), ..CallOptions::default() };
        let request = CancelTaskRequest { tenant: None, id: id.clone(), metadata: None };
        let call = Call::Task(TaskCall::CancelTask(request));
        match self.exchange(&call, &options).await {
            Ok(answer) => answer.task("CancelTask"),
            Err(ClientError::Remote(error)) if error.code == TASK_NOT_CANCELABLE => {
                let request =
                    crate::model::GetTaskRequest { tenant: None, id, history_length: None };
                let call = Call::Task(TaskCall::GetTask(request));
                self.exchange(&call, &options).await?.task("GetTask")
            }
            Err(error) => Err(error),
        }
    }
}

/// The outcome of a stream that has ended.
fn stopped(task: Option<Task>) -> Observed {
    match task {
        Some(task) => {
            Observed::of(task).unwrap_or_else(|task| broken(ClientError::Ended, Some(*task)))
        }
        None => broken(ClientError::Ended, None),
    }
}

fn ended(task: Task) -> Observed {
    let (outcome, text) = match task.status.state {
        TaskState::Completed => {
            let text = extract_text(&task).or_else(|| said(&task)).unwrap_or_default();
            (Outcome::Completed, text)
        }
        TaskState::Canceled => return canceled(Some(task)),
        TaskState::Rejected => (Outcome::Failed, reason(&task, "the agent rejected the task")),
        _ => (Outcome::Failed, reason(&task, "the task failed")),
    };
    Observed::came_to(outcome, text, Some(task))
}

/// The outcome of an interrupted task.
fn asked(task: Task) -> Observed {
    let outcome = match task.status.state {
        TaskState::AuthRequired => Outcome::AuthRequired,
        _ => Outcome::InputRequired,
    };
    let text = said(&task).unwrap_or_default();
    Observed::came_to(outcome, text, Some(task))
}

fn canceled(task: Option<Task>) -> Observed {
    let is_canceled = |task: &&Task| task.status.state == TaskState::Canceled;
    let text = task.as_ref().filter(is_canceled).map(|task| reason(task, CANCELED));
    let text = text.unwrap_or_else(|| CANCELED.to_owned());
    Observed::came_to(Outcome::Canceled, text, task)
}

/// The outcome if the message could not be sent, or if its task could not be followed to the end.
fn broken(error: ClientError, task: Option<Task>) -> Observed {
    let reason = match &error {
        ClientError::Http(HttpError::Status { status, .. })
        | ClientError::Busy { error: HttpError::Status { status, .. }, .. } => {
            format!("HTTP {status}")
        }
        error => error.to_string(),
    };
    let what = if task.is_none() { "submit" } else { "following the task" };
    let text = format!("{what} failed: {reason}");
    Observed { error: Some(error), ..Observed::came_to(Outcome::Failed, text, task) }
}

/// The agent's last text: the text of the status, else the text of the agent's last message.
fn said(task: &Task) -> Option<String> {
    let by_agent = task.history.iter().rev().filter(|message| message.role == Role::Agent);
    let said = task.status.message.iter().chain(by_agent).map(Message::text);
    said.into_iter().find(|text| !text.is_empty())
}

/// The text of the status, or `otherwise` if that is empty.
fn reason(task: &Task, otherwise: &str) -> String {
    let text = task.status.message.as_ref().map(Message::text);
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| otherwise.to_owned())
}

const CANCELED: &str = "the task was canceled";
const TASK_NOT_CANCELABLE: i32 = -32002;

/// The default time limit for canceling a remote task, in milliseconds.
const CANCEL_MS: u64 = 10_000;
