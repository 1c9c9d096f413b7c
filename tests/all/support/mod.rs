//! A task in memory whose agent is one closure, for tests of whole walks.
#![allow(unreachable_pub, reason = "a module of tests, each of which may use all of it")]

pub mod coordinated;
pub mod front;
pub mod http_agent;
pub mod lead;
pub mod model;
pub mod modeled;
pub mod remote;

use std::collections::BTreeMap;
use std::rc::Rc;

use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::{
    DeleteTaskRequest, GetTaskRequest, Message, Secret, SendMessageRequest, Task, TaskId, TaskState,
};
use a2a::{Outcome, Terms, WebhookCall};
use a2a_agents::RunSettings;
use a2a_edge::auth::Caller;
use a2a_edge::config::{Limits, Settings};
use a2a_edge::executor::{AgentExecutor, Events, ExecutorError, Runner, Turn};
use a2a_edge::operation::{self, send_message};
use a2a_edge::port::Outside;
use a2a_edge::session::{FindAgent, Opening, Owned, Sender, TaskSession, Visitor};
use a2a_edge::task::Recovery;
use a2a_edge::trail::Trail;
use a2a_edge::twins::{MemoryPlatform, MemoryStore};
use async_trait::async_trait;
use futures_executor::block_on;
use futures_util::future::LocalBoxFuture;
use serde_json::json;

/// An agent whose executor is one closure.
pub struct Agent<F>(pub F);

#[async_trait(?Send)]
impl<F> AgentExecutor for Agent<F>
where
    F: for<'a> Fn(&'a Turn, &'a Events) -> LocalBoxFuture<'a, Result<(), ExecutorError>>,
{
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        (self.0)(turn, events).await
    }
}

/// An executor that a registry has made.
pub struct Made(pub Rc<dyn AgentExecutor>);

#[async_trait(?Send)]
impl AgentExecutor for Made {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        self.0.execute(turn, events).await
    }

    async fn cancel(&self, turn: &Turn) {
        self.0.cancel(turn).await;
    }

    fn ensures_cancel(&self) -> bool {
        self.0.ensures_cancel()
    }

    fn recovery(&self) -> Recovery {
        self.0.recovery()
    }

    fn parks(&self) -> bool {
        self.0.parks()
    }
}

/// A task object with its platform; opening it again simulates a restart.
pub struct Host {
    pub store: MemoryStore,
    pub platform: MemoryPlatform,
    pub executor: Rc<dyn AgentExecutor>,
    pub settings: RunSettings,
    pub secrets: BTreeMap<String, Secret>,
}

impl Host {
    pub fn new<F>(agent: F) -> Self
    where
        F: for<'a> Fn(&'a Turn, &'a Events) -> LocalBoxFuture<'a, Result<(), ExecutorError>>
            + 'static,
    {
        Self {
            store: MemoryStore::default(),
            platform: MemoryPlatform::default(),
            executor: Rc::new(Agent(agent)),
            settings: RunSettings::default(),
            secrets: BTreeMap::new(),
        }
    }

    /// Adds a secret to the deployment.
    #[must_use]
    pub fn with_secret(mut self, name: &str, secret: &str) -> Self {
        self.secrets.insert(name.to_owned(), Secret::new(secret));
        self
    }

    pub fn open(&self) -> Rc<TaskSession> {
        self.open_within(limits())
    }

    pub fn open_within(&self, limits: Limits) -> Rc<TaskSession> {
        let (store, ports) = (Rc::new(self.store.clone()), self.platform.ports());
        let (executor, settings) = (self.executor.clone(), self.settings);
        let secrets = Rc::new(self.secrets.clone());
        let outside = Outside { secrets, ..self.platform.outside() };
        let runner = Runner { executor, settings, outside };
        let find: FindAgent = Rc::new(move |_| Ok(runner.clone()));
        TaskSession::open(TaskId::new("t").unwrap(), store, ports, limits, find, Opening::ByRequest)
            .expect("storage works")
    }

    pub fn sender(&self) -> Sender {
        Sender {
            agent: "agent".to_owned(),
            caller: Caller::anonymous(),
            accepted_output_modes: Vec::new(),
            dialect: Dialect::V1,
            fingerprint: None,
            run_timeout_ms: None,
            allowance: None,
            trail: Default::default(),
            origin: Some("https://agents.example".to_owned()),
            credentials: None,
        }
    }

    pub async fn send(
        &self,
        session: &Rc<TaskSession>,
        request: serde_json::Value,
    ) -> Result<Outcome, Error> {
        let request: SendMessageRequest = serde_json::from_value(request).expect("a good request");
        send_message(session, self.sender(), request, Terms::default()).await
    }

    pub fn rows(&self) -> usize {
        self.store.stored().map_or(0, |stored| stored.log.len())
    }
}

pub fn limits() -> Limits {
    Settings::read(|_| None).expect("the defaults are good").limits
}

pub fn first(text: &str) -> serde_json::Value {
    json!({"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}]}})
}

pub fn next(id: &str, text: &str) -> serde_json::Value {
    json!({"message": {"messageId": id, "taskId": "t", "role": "ROLE_USER", "parts": [{"text": text}]}})
}

pub fn task(session: &TaskSession) -> Task {
    owned(session).with_task(Task::clone).expect("there is a task")
}

pub fn state(session: &TaskSession) -> TaskState {
    task(session).status.state
}

pub fn reason(session: &TaskSession) -> String {
    task(session).status.message.as_ref().map(Message::text).unwrap_or_default()
}

/// The task of the anonymous caller, after it was created.
pub fn owned(session: &TaskSession) -> Owned<'_> {
    session
        .owned_by("agent", &Caller::anonymous(), &Trail::default())
        .expect("a task of the anonymous caller")
}

/// Answers GetTask as an object does, after the check of the owner.
pub async fn get_task(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    request: &GetTaskRequest,
    terms: Terms,
) -> Result<Outcome, Error> {
    operation::get_task(session.owned_by(agent, caller, &Trail::default())?, request, terms).await
}

/// Answers CancelTask as an object does.
pub fn cancel_task(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    terms: Terms,
) -> Result<Outcome, Error> {
    operation::cancel_task(session.owned_by(agent, caller, &Trail::default())?, terms)
}

/// Answers DeleteTask as an object does.
pub async fn delete_task(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    force: bool,
) -> Result<(), Error> {
    let trail = Trail::default();
    if !session.was_deleted_for(&Visitor::Caller(agent, caller, &trail)) {
        let task = session.owned_by(agent, caller, &trail)?;
        let request = DeleteTaskRequest { tenant: None, id: task.id().clone(), force };
        operation::delete_task(task, &request, Terms::default()).await?;
    }
    session.until_unlisted().await
}

/// Answers a call about webhooks as an object does.
pub fn manage_webhooks(
    session: &TaskSession,
    agent: &str,
    caller: &Caller,
    call: WebhookCall,
) -> Result<Outcome, Error> {
    let task = session.owned_by(agent, caller, &Trail::default())?;
    block_on(operation::manage_webhooks(task, call, Dialect::V1))
}
