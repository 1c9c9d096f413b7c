//! Calls to other agents. The caller uses the types of version 1.0, independent of the agent's version of the protocol.
//!
//! A [`Client`] is made from [`Settings`] (the agent's URL, timeouts, number of retries) and [`Ports`] (HTTP, clock, random numbers).
//! The client reads the agent's card, chooses an interface from the card, and sends requests to that interface. This module depends on
//! no platform: the server implements the ports on Cloudflare, and [`simulation`] implements them for tests.
//!
//! ```
//! use a2a::client::simulation::Simulation;
//! use a2a::client::{Client, Outcome, Settings, create_message};
//! use a2a::http::memory::ok;
//!
//! let simulation = Simulation::default();
//! simulation.http().answer_with(|request, _| Ok(ok(match request.method {
//!     "GET" => r#"{"name": "Echo", "description": "", "version": "1", "capabilities": {}, "skills": [],
//!         "defaultInputModes": [], "defaultOutputModes": [], "supportedInterfaces":
//!         [{"url": "https://echo.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}"#,
//!     _ => r#"{"jsonrpc": "2.0", "id": "1", "result": {"task": {"id": "t-1", "contextId": "c-1",
//!         "status": {"state": "TASK_STATE_COMPLETED"},
//!         "artifacts": [{"artifactId": "a", "parts": [{"text": "hello"}]}]}}}"#,
//! })));
//! let client = Client::new(Settings::new("https://echo.example"), simulation.ports());
//! let observed = simulation.run(client.send_and_observe(create_message("hello", &simulation.ports()), || false));
//! assert_eq!((observed.outcome, observed.text.as_str()), (Outcome::Completed, "hello"));
//! ```
//!
//! | item | purpose |
//! |---|---|
//! | [`Settings`] | the agent's URL, and how to call the agent |
//! | [`CardSource`] | fetches, caches, parses and checks cards |
//! | [`Credentials`] | authenticate the caller to the agent; sent to the agent's host only |
//! | [`Interceptor`] | changes requests, receives answers |
//! | [`TaskStream`] | the events of a task, streamed or polled; reconnects after a cut |
//! | [`apply`], [`changes`] | `apply` builds a task from its events; `changes` computes the events between two snapshots of a task |
//! | [`Observed`] | the outcome of a send |
//! | [`simulation`] | a clock and servers in memory, for tests |
//!
//! # The client
//!
//! ```text
//! send_and_observe / observe      observe.rs     checks between events whether to cancel, ends with one of six outcomes
//!   TaskStream                    following/     opens the stream, reconnects after a cut, polls; emits every change once
//!     call                        exchange.rs    retries what is safe to repeat; tries the other version once
//!       request                   dispatch.rs    interceptors, headers, credentials by the host of the URL; retries once on 401
//!         Wire                    codec/         writes the call as a request, reads the answer as a result, by version and binding
//!           Http                  a port         Cloudflare: edge/service/outbound.rs; native: client/native/; tests: simulation/
//! ```
//!
//! - **All types inside the client are those of version 1.0.** `Wire` writes a `Call` in the version of the connection, and reads the
//!   answer into the model of 1.0. The server's codecs and the client's codecs are in the same folder, `dialect/`, and share one table of
//!   names; property tests let each side read the output of the other side.
//! - **Every change of a task is emitted once, on every transport.** `following/telling.rs` keeps the task as the emitted events describe
//!   it (`fold::apply`). The events of a stream without a cut are emitted unchanged. After a cut the client continues with a cursor
//!   (`Last-Event-ID`), a snapshot or a poll; for a snapshot it emits the events that turn the known task into the snapshot
//!   (`fold::changes`). So no text is duplicated, and a polled task produces the same kinds of events as a streamed task. The event that
//!   ends the task is emitted last.
//! - **A request is repeated only if the repetition cannot start a second task.** All attempts of a send have the same message id, and an
//!   `Idempotency-Key` if the send starts a task. A server that supports neither of them may start a second task: the guarantee is "at
//!   least once".
//! - **Credentials belong to an origin.** The client adds them to a request as the last step, after the URL is final, and only if that URL
//!   has the origin of the settings' URL. A request to another host, after a redirect or by a URL of the card, has no credentials, and its
//!   URL is checked by the same rules as a webhook's URL.
//! - **The card and the settings decide which connection is used**; the client keeps the connection for five minutes. An error that
//!   suggests another version of the protocol replaces the connection once.

mod address;
mod answer;
mod card;
mod codec;
mod connect;
mod credentials;
mod delegation;
mod depth;
mod dispatch;
mod error;
mod exchange;
mod fold;
mod following;
mod helpers;
mod interceptor;
#[cfg(all(feature = "native", not(target_arch = "wasm32")))]
pub mod native;
mod observe;
mod options;
mod retry;
mod settings;
pub mod simulation;
mod sse;
mod stream;
mod task_event;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::call::{Call, TaskCall, WebhookCall};
use crate::http::Http;
use crate::model::{
    CancelTaskRequest, ContextDeletion, DeleteContextRequest, DeleteTaskRequest, GetTaskRequest,
    ListPushNotificationConfigsRequest, ListTasksRequest, PushNotificationConfigRequest,
    SendMessageRequest, Task, TaskPushNotificationConfig,
};
use crate::port::{Clock, Random};
pub use answer::{Answer, Sent, TaskPage};
pub use card::{CardSource, CardText, MemoryCards, RemoteCard, Verifier, Verify};
use connect::Chosen;
pub use connect::Connection;
pub use credentials::{ApiKey, Bearer, Credentials, OAuth, OAuthSettings, Tokens};
pub use delegation::{Delegated, DelegationArguments, DelegationTool, create_a2a_tool};
pub use depth::{DEPTH_KEY, MAX_DEPTH, depth_of, read_depth};
pub use error::{ClientError, RemoteError};
pub use fold::{apply, changes};
/// Re-exported for `next` of a [`TaskStream`].
pub use futures_util::StreamExt;
#[cfg(feature = "markdown")]
pub use helpers::skill_from_markdown;
pub use helpers::{
    build_coordinator_prompt, capitalized, card_to_prompt, card_to_skills, create_message,
    extract_question, extract_text, humanize, last_agent_message, mcp_to_skills, slugify,
    tool_names, tool_to_skill,
};
pub use interceptor::Interceptor;
pub use observe::{Observe, Observed, Outcome};
pub use options::CallOptions;
pub use settings::{Settings, Streaming};
pub use sse::{SseEvent, SseReader, TooLarge};
pub use stream::TaskStream;
pub use task_event::TaskEvent;

/// The services of the platform that a client needs. Clones share them.
#[derive(Clone)]
pub struct Ports {
    /// HTTP requests to other servers.
    pub http: Rc<dyn Http>,
    /// The current time and timers.
    pub clock: Rc<dyn Clock>,
    /// Random numbers.
    pub random: Rc<dyn Random>,
}

/// A client for one agent. Clones share its connection.
#[derive(Clone)]
pub struct Client(Rc<Inner>);

#[derive(Clone)]
struct Inner {
    settings: Settings,
    ports: Ports,
    cards: Rc<dyn CardSource>,
    credentials: Option<Rc<dyn Credentials>>,
    interceptors: Vec<Rc<dyn Interceptor>>,
    verifier: Option<Rc<dyn Verifier>>,
    /// The chosen interface of the agent.
    chosen: RefCell<Chosen>,
    /// True if the agent has answered a request in the version that the client uses.
    is_proven: Cell<bool>,
}

impl Client {
    /// A client for the agent of these settings, with its own card cache.
    pub fn new(settings: Settings, ports: Ports) -> Self {
        let cards = Rc::new(MemoryCards::new(ports.clone()));
        let (credentials, interceptors, verifier) = (None, Vec::new(), None);
        let (chosen, is_proven) = (RefCell::default(), Cell::default());
        Self(Rc::new(Inner {
            settings,
            ports,
            cards,
            credentials,
            interceptors,
            verifier,
            chosen,
            is_proven,
        }))
    }

    fn with(self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = Rc::unwrap_or_clone(self.0);
        change(&mut inner);
        Self(Rc::new(inner))
    }

    /// The same client, with cards from this source.
    #[must_use]
    pub fn with_cards(self, cards: Rc<dyn CardSource>) -> Self {
        self.with(|inner| inner.cards = cards)
    }

    /// The same client, with these credentials, which are sent only to the host of the settings' URL.
    #[must_use]
    pub fn with_credentials(self, credentials: Rc<dyn Credentials>) -> Self {
        self.with(|inner| inner.credentials = Some(credentials))
    }

    /// The same client, with one more interceptor. Interceptors run in the order in which they were added.
    #[must_use]
    pub fn with_interceptor(self, interceptor: Rc<dyn Interceptor>) -> Self {
        self.with(|inner| inner.interceptors.push(interceptor))
    }

    /// The same client, with a verifier for the signatures of cards.
    #[must_use]
    pub fn with_verifier(self, verifier: Rc<dyn Verifier>) -> Self {
        self.with(|inner| inner.verifier = Some(verifier))
    }

    /// The same client for the same agent, with other settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        self.with(|inner| inner.settings = settings)
    }

    /// The settings of this client.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The services of the platform that this client uses.
    pub fn ports(&self) -> &Ports {
        &self.0.ports
    }

    /// Sends a message, and waits for the server's answer (spec §3.1.1). With `return_immediately` the answer is the task as
    /// soon as it exists. Otherwise the answer is the task when it has ended or is interrupted, or a message in place of a
    /// task.
    ///
    /// # Errors
    ///
    /// If the agent refuses the message, or cannot be called.
    pub async fn send(&self, request: SendMessageRequest) -> Result<Sent, ClientError> {
        let request = self.deepened(request)?;
        match self.ask(TaskCall::SendMessage(Box::new(request))).await? {
            Answer::Task(task) => Ok(Sent::Task(task)),
            Answer::Message(message) => Ok(Sent::Message(message)),
            _ => Err(ClientError::unexpected("SendMessage")),
        }
    }

    /// Reads the current state of a task (spec §3.1.3).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn get(&self, request: GetTaskRequest) -> Result<Task, ClientError> {
        self.ask(TaskCall::GetTask(request)).await?.task("GetTask")
    }

    /// Cancels a task (spec §3.1.5), and returns the task after the cancellation.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn cancel(&self, request: CancelTaskRequest) -> Result<Task, ClientError> {
        self.ask(TaskCall::CancelTask(request)).await?.task("CancelTask")
    }

    /// Deletes a task, with the extension [`DELETION_EXTENSION`](crate::model::DELETION_EXTENSION) of a2a-edge. Another server
    /// answers that it does not have the method.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send). A task that has not ended is refused, unless the request says `force`.
    pub async fn delete(&self, request: DeleteTaskRequest) -> Result<(), ClientError> {
        self.ask(TaskCall::DeleteTask(request)).await.map(|_| ())
    }

    /// Deletes the tasks of a context, a page of them with each call, with the same extension: repeat it with the token of the answer
    /// until that is empty.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn delete_context(
        &self,
        request: DeleteContextRequest,
    ) -> Result<ContextDeletion, ClientError> {
        match self.exchange(&Call::Context(request), &CallOptions::default()).await? {
            Answer::ContextDeleted(deletion) => Ok(deletion),
            _ => Err(ClientError::unexpected("DeleteContext")),
        }
    }

    /// Reads a page of the caller's tasks (spec §3.1.4).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn list(&self, request: ListTasksRequest) -> Result<TaskPage, ClientError> {
        match self.exchange(&Call::List(request), &CallOptions::default()).await? {
            Answer::Tasks(page) => Ok(page),
            _ => Err(ClientError::unexpected("ListTasks")),
        }
    }

    /// Reads the agent's card for this caller (spec §3.1.11).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn extended_card(&self) -> Result<RemoteCard, ClientError> {
        match self.exchange(&Call::Card, &CallOptions::default()).await? {
            Answer::Card(card) => Ok(*card),
            _ => Err(ClientError::unexpected("GetExtendedAgentCard")),
        }
    }

    /// Registers a webhook for a task (spec §3.1.7), and returns the webhook as the server stores it.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn create_webhook(
        &self,
        webhook: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, ClientError> {
        let call = WebhookCall::CreateTaskPushNotificationConfig(Box::new(webhook));
        self.ask(TaskCall::Webhook(call)).await?.webhook("CreateTaskPushNotificationConfig")
    }

    /// Reads one webhook of a task (spec §3.1.8).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn get_webhook(
        &self,
        request: PushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, ClientError> {
        let call = WebhookCall::GetTaskPushNotificationConfig(request);
        self.ask(TaskCall::Webhook(call)).await?.webhook("GetTaskPushNotificationConfig")
    }

    /// Lists the webhooks of a task (spec §3.1.9).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn list_webhooks(
        &self,
        request: ListPushNotificationConfigsRequest,
    ) -> Result<Vec<TaskPushNotificationConfig>, ClientError> {
        let call = WebhookCall::ListTaskPushNotificationConfigs(request);
        match self.ask(TaskCall::Webhook(call)).await? {
            Answer::Webhooks(webhooks) => Ok(webhooks),
            _ => Err(ClientError::unexpected("ListTaskPushNotificationConfigs")),
        }
    }

    /// Deletes a webhook of a task (spec §3.1.10).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn delete_webhook(
        &self,
        request: PushNotificationConfigRequest,
    ) -> Result<(), ClientError> {
        let call = WebhookCall::DeleteTaskPushNotificationConfig(request);
        self.ask(TaskCall::Webhook(call)).await.map(|_| ())
    }

    async fn ask(&self, call: TaskCall) -> Result<Answer, ClientError> {
        self.exchange(&Call::Task(call), &CallOptions::default()).await
    }
}
