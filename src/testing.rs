//! An agent in memory, for tests of an executor: its task, a clock that advances when all futures wait, and a closure in
//! place of other servers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::auth::{Caller, GivenCredentials};
use crate::config::Settings;
use crate::executor::{AgentExecutor, Runner};
use crate::mcp::McpServers;
use crate::operation::{cancel_task, send_message};
use crate::port::{Clock, Outside, Runtime, Severity, Target};
use crate::remotes::Remotes;
use crate::session::{Opening, Owned, Posted, Sender, SentCredentials, TaskSession};
use crate::trail::Trail;
use crate::twins::{MemoryHttp, MemoryPlatform, MemoryStore, MemoryVault};
use a2a::error::Error;
use a2a::model::{
    CREDENTIALS_MEDIA_TYPE, Message, Part, Role, Secret, SendMessageConfiguration,
    SendMessageRequest, Task, TaskId, UnixMillis,
};
use a2a::{Outcome, Terms};
use a2a_agents::{McpServer, Remote, RunSettings, Slug, Table};

/// One task of an agent.
///
/// ```
/// use a2a_edge::prelude::*;
/// use a2a_edge::testing::TestAgent;
///
/// struct Greeter;
///
/// #[async_trait(?Send)]
/// impl AgentExecutor for Greeter {
///     async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
///         let page = turn.fetch(HttpRequest::new("GET", "https://example.com/name")).await?;
///         events.complete(Some(&format!("{} {}", turn.message.text(), page.body)))
///     }
/// }
///
/// let agent = TestAgent::new(Greeter);
/// agent.http().answer_with(|_, _| Ok(http::memory::ok("Ada")));
/// agent.send("Hello").unwrap();
/// let task = agent.task().unwrap();
/// assert_eq!(task.status.state, TaskState::Completed);
/// assert_eq!(task.status.message.unwrap().text(), "Hello Ada");
/// ```
pub struct TestAgent {
    platform: MemoryPlatform,
    store: MemoryStore,
    executor: Rc<dyn AgentExecutor>,
    secrets: BTreeMap<String, Secret>,
    variables: BTreeMap<String, String>,
    remotes: Vec<Remote>,
    mcp: Vec<McpServer>,
    slugs: Vec<Slug>,
    session: RefCell<Option<Rc<TaskSession>>>,
    messages: Cell<u32>,
    caller: Caller,
}

impl TestAgent {
    /// An agent without a task yet.
    pub fn new(executor: impl AgentExecutor + 'static) -> Self {
        Self {
            platform: MemoryPlatform::default(),
            store: MemoryStore::default(),
            executor: Rc::new(executor),
            secrets: BTreeMap::new(),
            variables: BTreeMap::new(),
            remotes: Vec::new(),
            mcp: Vec::new(),
            slugs: Vec::new(),
            session: RefCell::default(),
            messages: Cell::new(0),
            caller: Caller::anonymous(),
        }
    }

    /// The agent, with a secret of this name in its deployment.
    #[must_use]
    pub fn with_secret(mut self, name: &str, secret: &str) -> Self {
        self.secrets.insert(name.to_owned(), Secret::new(secret));
        self
    }

    /// The agent, with a variable of this name in its deployment.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The agent, with another agent of this name that it may call. `table` has the contents of `[remote.<name>]` in
    /// `remotes.toml`.
    ///
    /// # Panics
    ///
    /// If `table` is not a table.
    #[must_use]
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub fn with_remote(mut self, name: &str, table: serde_json::Value) -> Self {
        let Ok(table) = Table::of(&table) else { panic!("the remote {name} must be a table") };
        self.remotes.push(Remote { name: name.to_owned(), table, needs: Vec::new() });
        self
    }

    /// The agent, with an MCP server of this name that it may call. `table` has the contents of `[mcp.<name>]` in
    /// `remotes.toml`.
    ///
    /// # Panics
    ///
    /// If `table` is not a table.
    #[must_use]
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub fn with_mcp(mut self, name: &str, table: serde_json::Value) -> Self {
        let Ok(table) = Table::of(&table) else { panic!("the MCP server {name} must be a table") };
        self.mcp.push(McpServer { name: name.to_owned(), table, needs: Vec::new() });
        self
    }

    /// The agent, in a Worker with another agent of this slug. The answers of the other agent come from
    /// [`http`](Self::http), like those of other servers; the header `caller` of these requests contains the id of the
    /// caller.
    #[must_use]
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub fn with_agent(mut self, slug: &str) -> Self {
        let Ok(slug) = Slug::parse(slug) else { panic!("{slug:?} is no slug of an agent") };
        self.slugs.push(slug);
        self
    }

    /// The agent, called by a caller with this permission.
    #[must_use]
    pub fn with_permission(mut self, permission: &str) -> Self {
        self.caller.permissions.push(permission.to_owned());
        self
    }

    /// The other servers that the agent calls. Until the test sets their answers, no server answers.
    pub fn http(&self) -> &MemoryHttp {
        self.platform.memory_http()
    }

    /// Binds another Worker under this name, and returns its double.
    pub fn service(&self, name: &str) -> MemoryHttp {
        self.platform.bind(Target::Service(name.to_owned()))
    }

    /// Sends a text, and drives the agent until one of these: the task ends or waits for the client, the run is parked for
    /// longer than a send waits (a minute), or the agent replies.
    ///
    /// # Errors
    ///
    /// The errors of SendMessage.
    pub fn send(&self, text: &str) -> Result<Outcome, Error> {
        self.send_parts(vec![Part::text(text)])
    }

    /// Like [`send`](Self::send), with a message of any parts.
    ///
    /// # Errors
    ///
    /// The errors of SendMessage.
    pub fn send_parts(&self, parts: Vec<Part>) -> Result<Outcome, Error> {
        self.send_with(parts, SendMessageConfiguration::default())
    }

    /// Sends credentials with a text to a task that waits for credentials; otherwise like [`send`](Self::send).
    ///
    /// # Errors
    ///
    /// The errors of SendMessage; [`Error::InvalidParams`] if there is no task, or if it does not wait for credentials.
    pub fn send_credentials(&self, text: &str, data: serde_json::Value) -> Result<Outcome, Error> {
        let credentials = Part::data(data).with_media_type(CREDENTIALS_MEDIA_TYPE);
        self.send_parts(vec![Part::text(text), credentials])
    }

    /// Sends a text, and drives the agent until the task exists; the task is then under way.
    ///
    /// # Errors
    ///
    /// The errors of SendMessage.
    pub fn begin(&self, text: &str) -> Result<Outcome, Error> {
        self.begin_parts(vec![Part::text(text)])
    }

    /// Like [`begin`](Self::begin), with a message of any parts.
    ///
    /// # Errors
    ///
    /// The errors of SendMessage.
    pub fn begin_parts(&self, parts: Vec<Part>) -> Result<Outcome, Error> {
        let configuration =
            SendMessageConfiguration { return_immediately: true, ..Default::default() };
        self.send_with(parts, configuration)
    }

    fn send_with(
        &self,
        parts: Vec<Part>,
        configuration: SendMessageConfiguration,
    ) -> Result<Outcome, Error> {
        self.messages.set(self.messages.get() + 1);
        let mut message = Message {
            message_id: format!("m{}", self.messages.get()),
            context_id: None,
            task_id: self.task().map(|task| task.id),
            role: Role::User,
            parts,
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        };
        let given = GivenCredentials::take(&mut message, None)?;
        let credentials = given.zip(message.task_id.as_ref()).map(|(given, task)| {
            let sealed = MemoryVault::seal(task.as_str(), given.text.reveal());
            SentCredentials { sealed, is_part: given.is_part }
        });
        let sender = Sender {
            agent: AGENT.to_owned(),
            caller: self.caller.clone(),
            accepted_output_modes: Vec::new(),
            dialect: a2a::dialect::Dialect::V1,
            fingerprint: None,
            run_timeout_ms: None,
            allowance: None,
            trail: Default::default(),
            origin: Some(ORIGIN.to_owned()),
            credentials,
        };
        let request = SendMessageRequest { message, configuration, tenant: None, metadata: None };
        let session = self.session()?;
        self.platform.run_until(send_message(&session, sender, request, Terms::default()))
    }

    /// True if credentials of the client are stored: from their message to the end of its turn.
    pub fn keeps_credentials(&self) -> bool {
        self.store.stored().is_some_and(|stored| stored.credentials.is_some())
    }

    /// Cancels the task.
    ///
    /// # Errors
    ///
    /// The errors of CancelTask.
    pub fn cancel(&self) -> Result<Outcome, Error> {
        let session = self.session()?;
        cancel_task(session.owned_by(AGENT, &self.caller, &Trail::default())?, Terms::default())
    }

    /// Posts to a callback of the agent, like a server that received the URL. Returns true if the post is accepted.
    pub fn call_back(&self, url: &str, body: Part) -> bool {
        let Ok(session) = self.session() else { return false };
        let path = url.strip_prefix(&format!("{ORIGIN}/{AGENT}/callbacks/"));
        let token = path.and_then(|path| path.strip_prefix(session.id().as_str()));
        token.is_some_and(|token| session.call_back(AGENT, token, None, body) == Posted::Accepted)
    }

    /// Drives the run to its end and advances the clock as needed: for years, if the run is parked for that long. A run that
    /// waits for an action of the test stays as it is.
    pub fn run(&self) {
        loop {
            self.platform.run_all();
            if !self.is_parked() || !self.platform.ring(UnixMillis(i64::MAX)) {
                return;
            }
            self.wake();
        }
    }

    /// Advances the clock by this many milliseconds. A run that is parked until then continues.
    pub fn pass(&self, millis: u64) {
        let end = self.now().after(millis);
        while self.platform.run_to(end) {
            self.wake();
        }
    }

    /// The current instant; the clock begins at 0.
    pub fn now(&self) -> UnixMillis {
        Clock::now(&self.platform)
    }

    fn is_parked(&self) -> bool {
        let Ok(session) = self.session() else { return false };
        session.owned_by(AGENT, &self.caller, &Trail::default()).is_ok_and(Owned::is_parked)
    }

    fn wake(&self) {
        if let Ok(session) = self.session() {
            self.platform.spawn(Box::pin(async move { session.wake().await }));
        }
    }

    /// What the agent has reported to its operator with this severity, as lines of the log.
    pub fn observed(&self, severity: Severity) -> Vec<String> {
        self.platform.observed(severity)
    }

    /// Ends the process, like a crash or a deploy, and begins another process. Stored data stays.
    ///
    /// # Errors
    ///
    /// If the stored data cannot be read.
    pub fn crash(&self) -> Result<(), Error> {
        self.platform.crash();
        self.session.take();
        let session = self.session()?;
        self.platform.run_until(session.wake());
        Ok(())
    }

    /// The current task, if there is one.
    pub fn task(&self) -> Option<Task> {
        let session = self.session().ok()?;
        let owned = session.owned_by(AGENT, &self.caller, &Trail::default()).ok()?;
        owned.with_task(Task::clone)
    }

    fn session(&self) -> Result<Rc<TaskSession>, Error> {
        if let Some(session) = self.session.borrow().clone() {
            return Ok(session);
        }
        let outside = Outside {
            secrets: Rc::new(self.secrets.clone()),
            variables: Rc::new(self.variables.clone()),
            remotes: Rc::new(Remotes::new(self.remotes.clone(), self.slugs.clone())),
            mcp: Rc::new(McpServers::new(self.mcp.clone())),
            ..self.platform.outside()
        };
        let settings = RunSettings::default();
        let runner = Runner { executor: self.executor.clone(), settings, outside };
        let settings = Settings::read(|_| None).map_err(|_| Error::Internal { task: None })?;
        let session = TaskSession::open(
            TaskId::from('t'),
            Rc::new(self.store.clone()),
            self.platform.ports(),
            settings.limits,
            Rc::new(move |_| Ok(runner.clone())),
            Opening::ByRequest,
        );
        let session = session.map_err(|_| Error::Internal { task: None })?;
        self.session.replace(Some(session.clone()));
        Ok(session)
    }
}

const AGENT: &str = "agent";

/// The origin of the agent's server.
const ORIGIN: &str = "https://agents.example";

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;
    use crate::executor::{Events, ExecutorError, Turn};
    use a2a::http::HttpRequest;
    use a2a::model::{Artifact, TaskState};

    /// Emits every value that it reads.
    struct Talkative;

    #[async_trait(?Send)]
    impl AgentExecutor for Talkative {
        async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
            let key = turn.secret("KEY")?;
            let key = key.reveal();
            let place = turn.variable("PLACE")?;
            events.working(Some(&format!("{key} in {place}")))?;
            events.artifact(Artifact::new(key, Part::data(serde_json::json!([key]))))?;
            let answer = turn.fetch(HttpRequest::get(format!("https://a.example/{key}"))).await?;
            events.complete(Some(&answer.body))
        }
    }

    fn said(agent: &TestAgent) -> (String, String) {
        let task = agent.task().unwrap();
        let text = task.status.message.as_ref().map(Message::text).unwrap_or_default();
        (text, serde_json::to_string(&task).unwrap())
    }

    #[test]
    fn nothing_that_an_executor_says_holds_a_secret_that_it_has_read() {
        let agent = TestAgent::new(Talkative)
            .with_secret("KEY", "marker-8c1f")
            .with_variable("PLACE", "the open");
        agent.send("hi").unwrap();
        let (text, task) = said(&agent);
        assert!(text.starts_with("https://a.example/[KEY] did not answer: "), "{text}");
        assert!(task.contains("the open") && task.contains("[KEY]"), "{task}");
        assert!(!task.contains("marker-8c1f"), "{task}");
    }

    /// Fails in a step, with a secret that the step has read in the error text.
    struct Careless;

    #[async_trait(?Send)]
    impl AgentExecutor for Careless {
        async fn execute(&self, turn: &Turn, _: &Events) -> Result<(), ExecutorError> {
            let failed = turn.step("ask", async || {
                let key = turn.secret("KEY")?;
                Err::<(), _>(ExecutorError(format!("bad key {}", key.reveal())))
            });
            let failed = failed.await;
            turn.pause("a moment", 1_000).await?;
            failed
        }

        fn recovery(&self) -> a2a_agents::Recovery {
            a2a_agents::Recovery::Resume
        }
    }

    #[test]
    fn a_failure_that_is_kept_over_a_crash_holds_no_secret() {
        let agent = TestAgent::new(Careless).with_secret("KEY", "marker-8c1f");
        agent.begin("hi").unwrap();
        agent.crash().unwrap();
        agent.run();
        assert_eq!(said(&agent).0, "bad key [KEY]");
    }

    #[test]
    fn a_secret_that_is_missing_fails_the_task_and_is_named() {
        for agent in [TestAgent::new(Talkative), TestAgent::new(Talkative).with_secret("KEY", " ")]
        {
            agent.send("hi").unwrap();
            assert_eq!(agent.task().unwrap().status.state, TaskState::Failed);
            let (text, _) = said(&agent);
            assert!(text.contains("KEY") && text.contains("not set"), "{text}");
        }
    }
}
