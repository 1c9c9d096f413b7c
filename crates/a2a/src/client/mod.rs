//! Calls to other agents, whatever version of the protocol they speak, in the words of 1.0.
//!
//! A [`Client`] is made from [`Settings`] (where the agent is, how long to wait, how often to try) and [`Ports`] (HTTP, time,
//! chance). It reads the card of the agent, chooses an interface, and calls it. It names no platform: the server
//! implements the ports on Cloudflare, [`simulation`] does for tests.
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
//! | module | what is there |
//! |---|---|
//! | [`Settings`] | where an agent is, and how it is called |
//! | [`CardSource`] | cards: fetched, remembered, read, checked |
//! | [`Credentials`] | what shows the agent who calls, bound to its host |
//! | [`Interceptor`] | changes requests, sees answers |
//! | [`TaskStream`] | the events of a task, streamed or polled, through all cuts |
//! | [`apply`], [`changes`] | a task from its events, and events from two looks at a task |
//! | [`Observed`] | what a send came to |
//! | [`simulation`] | time and servers in memory |
//!
//! # The client
//!
//! ```text
//! send_and_observe / observe      observe.rs     asks between events whether to cancel, ends with one of six outcomes
//!   TaskStream                    following/     opens the stream, comes back after a cut, polls; tells every change once
//!     call                        exchange.rs    repeats what may be repeated; tries the other version once
//!       request                   dispatch.rs    interceptors, headers, credentials by the host of the URL; once more on 401
//!         Wire                    codec/         the call as a request, the answer as a result, by version and binding
//!           Http                  a port         Cloudflare: edge/service/outbound.rs; native: client/native/; tests: simulation/
//! ```
//!
//! - **Inside, everything is 1.0.** `Wire` writes a `Call` in the version of the connection, and reads what comes back as the model of 1.0. A server's
//!   own codecs and the client's stand side by side in `dialect/`, with one table of names for both; property tests let each read what the other writes.
//! - **A task is told once, whatever the way.** `following/telling.rs` keeps the task as the events that were told give it (`fold::apply`). A stream without a cut passes
//!   through it. After a cut there is a cursor (`Last-Event-ID`), or a snapshot, or a poll; a snapshot is told as the events that explain how it differs from what was told
//!   (`fold::changes`). So text is not doubled, and a caller cannot tell a polled task from a streamed one. The event that ends the task is told last.
//! - **Only what cannot begin a second task is repeated.** A send always has the same message id, and an `Idempotency-Key` where it begins a task. Servers that know neither may begin a second one: at least once.
//! - **Credentials belong to an origin.** They are put on a request after everything else has been done to its URL, and only if that leads to the origin of the settings' URL. A
//!   card or a redirect that names another host gets none, and is judged as a webhook's URL is.
//! - **A connection is chosen by the card and the settings**, and kept by the client for five minutes. An error that looks like that of another version replaces it once.

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
    CancelTaskRequest, GetTaskRequest, ListPushNotificationConfigsRequest, ListTasksRequest,
    PushNotificationConfigRequest, SendMessageRequest, Task, TaskPushNotificationConfig,
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
/// For `next` of a [`TaskStream`].
pub use futures_util::StreamExt;
#[cfg(feature = "markdown")]
pub use helpers::skill_from_markdown;
pub use helpers::{
    build_coordinator_prompt, card_to_prompt, card_to_skills, create_message, extract_question,
    extract_text, humanize, last_agent_message, mcp_to_skills, slugify, tool_names, tool_to_skill,
};
pub use interceptor::Interceptor;
pub use observe::{Observe, Observed, Outcome};
pub use options::CallOptions;
pub use settings::{Settings, Streaming};
pub use sse::{SseEvent, SseReader, TooLarge};
pub use stream::TaskStream;
pub use task_event::TaskEvent;

/// What a client asks of the machine. Clones share it.
#[derive(Clone)]
pub struct Ports {
    /// Other servers.
    pub http: Rc<dyn Http>,
    /// Time.
    pub clock: Rc<dyn Clock>,
    /// Chance.
    pub random: Rc<dyn Random>,
}

/// A client of one agent. Clones share its connection.
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
    /// Which interface of the agent is called, once that is known.
    chosen: RefCell<Chosen>,
    /// Whether the agent has answered in the version in which it is called.
    is_proven: Cell<bool>,
}

impl Client {
    /// A client of the agent that these settings name, with a card cache of its own.
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

    /// The same client with cards from this source.
    #[must_use]
    pub fn with_cards(self, cards: Rc<dyn CardSource>) -> Self {
        self.with(|inner| inner.cards = cards)
    }

    /// The same client with these credentials. They go to the host of the settings' URL alone.
    #[must_use]
    pub fn with_credentials(self, credentials: Rc<dyn Credentials>) -> Self {
        self.with(|inner| inner.credentials = Some(credentials))
    }

    /// The same client with one more interceptor. They are asked in the order in which they were added.
    #[must_use]
    pub fn with_interceptor(self, interceptor: Rc<dyn Interceptor>) -> Self {
        self.with(|inner| inner.interceptors.push(interceptor))
    }

    /// The same client with what checks signatures of cards.
    #[must_use]
    pub fn with_verifier(self, verifier: Rc<dyn Verifier>) -> Self {
        self.with(|inner| inner.verifier = Some(verifier))
    }

    /// The same client of the same agent with other settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        self.with(|inner| inner.settings = settings)
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// What the client asks of the machine.
    pub fn ports(&self) -> &Ports {
        &self.0.ports
    }

    /// Sends a message, and waits for what the server answers: with `return_immediately` the task as soon as it exists, else
    /// the task when it is finished or waits for somebody, or a message instead of a task (spec §3.1.1).
    ///
    /// # Errors
    ///
    /// If the agent refuses it, or cannot be called.
    pub async fn send(&self, request: SendMessageRequest) -> Result<Sent, ClientError> {
        let request = self.deepened(request)?;
        match self.ask(TaskCall::SendMessage(Box::new(request))).await? {
            Answer::Task(task) => Ok(Sent::Task(task)),
            Answer::Message(message) => Ok(Sent::Message(message)),
            _ => Err(ClientError::unexpected("SendMessage")),
        }
    }

    /// A task as it is now (spec §3.1.3).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn get(&self, request: GetTaskRequest) -> Result<Task, ClientError> {
        self.ask(TaskCall::GetTask(request)).await?.task("GetTask")
    }

    /// Cancels a task (spec §3.1.5), and gives it as it is then.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn cancel(&self, request: CancelTaskRequest) -> Result<Task, ClientError> {
        self.ask(TaskCall::CancelTask(request)).await?.task("CancelTask")
    }

    /// A page of the caller's tasks (spec §3.1.4).
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

    /// The card that the agent has for this caller (spec §3.1.11).
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

    /// Registers a webhook for a task (spec §3.1.7), and gives it as the server has it.
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

    /// A webhook of a task (spec §3.1.8).
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

    /// The webhooks of a task (spec §3.1.9).
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
