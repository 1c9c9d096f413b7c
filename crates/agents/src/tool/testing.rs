//! Calls of tools in tests.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use async_trait::async_trait;
use futures_executor::block_on;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::{Counters, StepStart, Tool, ToolCall, ToolError, ToolOutput, call_checked};
use crate::unbound_service;
use a2a::http::memory::MemoryHttp;
use a2a::http::{Http, HttpAnswer, HttpError, HttpRequest};
use a2a::model::{Json, Message, Secret, UnixMillis};

/// Calls a tool in a [`TestCall`].
///
/// # Errors
///
/// The problems of the arguments, or the error of the tool.
pub fn call(tool: &dyn Tool, arguments: Value) -> Result<ToolOutput, ToolError> {
    TestCall::default().call(tool, arguments)
}

/// A call in memory, at 2026-01-05T09:00:01.250Z.
///
/// ```
/// # extern crate a2a_agents as a2a_edge;
/// use a2a_edge::http::memory::ok;
/// use a2a_edge::tool::prelude::*;
/// use a2a_edge::tool::testing::TestCall;
///
/// /// Orders it.
/// #[tool]
/// async fn order(what: String, call: &dyn ToolCall) -> Result<String, ToolError> {
///     let key = call.secret("SHOP_KEY")?;
///     for name in ["pay", "ship"] {
///         let request = || {
///             HttpRequest::post(format!("https://shop.example/{name}"))
///                 .with_header("Authorization", key.reveal())
///         };
///         call.step(name, async || Ok(call.fetch(request()).await?.status)).await?;
///     }
///     Ok(format!("ordered {what}"))
/// }
///
/// let call = TestCall::default().with_secret("SHOP_KEY", "s3cr3t");
/// call.http.answer_with(|_, _| Ok(ok("done")));
/// call.crash_before("ship");
/// assert!(call.call(&order(), json!({"what": "tea"})).is_err());
/// assert_eq!(call.resume(&order(), json!({"what": "tea"})), Ok("ordered tea".into()));
/// assert_eq!(call.http.called(), ["https://shop.example/pay", "https://shop.example/ship"]);
/// ```
pub struct TestCall {
    /// The caller's permissions; none unless given.
    pub permissions: Vec<String>,
    /// True if the counters are available.
    pub has_counters: bool,
    /// Secrets of the deployment, each with its name.
    pub secrets: Vec<(String, Secret)>,
    /// Variables of the deployment, each with its name.
    pub variables: Vec<(String, String)>,
    /// The earlier messages of the task.
    pub history: Vec<Message>,
    /// The simulated other servers.
    pub http: MemoryHttp,
    /// The simulated other Workers, each with the name of its service binding.
    pub services: Vec<(String, MemoryHttp)>,
    /// True if the caller has canceled the call.
    pub is_canceled: Cell<bool>,
    /// The progress notes of the tool, in order.
    pub progress: RefCell<Vec<String>>,
    /// The last value of the counters.
    pub count: Cell<u64>,
    /// The finished steps, for [`resume`](Self::resume).
    pub steps: RefCell<TestSteps>,
}

/// The steps of a call.
#[derive(Default)]
pub struct TestSteps {
    done: BTreeMap<(String, u32), Result<Json, String>>,
    begun: BTreeMap<String, u32>,
    crash_before: Option<String>,
}

impl Default for TestCall {
    fn default() -> Self {
        Self {
            permissions: Vec::new(),
            has_counters: true,
            secrets: Vec::new(),
            variables: Vec::new(),
            history: Vec::new(),
            http: MemoryHttp::default(),
            services: Vec::new(),
            is_canceled: Cell::new(false),
            progress: RefCell::default(),
            count: Cell::new(0),
            steps: RefCell::default(),
        }
    }
}

impl TestCall {
    /// The call with one more secret.
    #[must_use]
    pub fn with_secret(mut self, name: &str, secret: &str) -> Self {
        self.secrets.push((name.to_owned(), Secret::new(secret)));
        self
    }

    /// The call with one more variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Calls a tool for the first time: no step is finished.
    ///
    /// # Errors
    ///
    /// The same as [`call`].
    pub fn call(&self, tool: &dyn Tool, arguments: Value) -> Result<ToolOutput, ToolError> {
        self.steps.borrow_mut().done.clear();
        self.resume(tool, arguments)
    }

    /// Calls a tool as after a crash: finished steps return their stored results.
    ///
    /// # Errors
    ///
    /// The same as [`call`].
    pub fn resume(&self, tool: &dyn Tool, arguments: Value) -> Result<ToolOutput, ToolError> {
        self.steps.borrow_mut().begun.clear();
        block_on(call_checked(tool, arguments, self))
    }

    /// Ends the next call before the step with this name, like a crash.
    pub fn crash_before(&self, step: &str) {
        self.steps.borrow_mut().crash_before = Some(step.to_owned());
    }
}

impl ToolCall for TestCall {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_767_603_601_250)
    }

    fn caller_id(&self) -> &str {
        "c"
    }

    fn permissions(&self) -> &[String] {
        &self.permissions
    }

    fn task_id(&self) -> &str {
        "task"
    }

    fn idempotency_key(&self) -> String {
        "task-1-1".to_owned()
    }

    fn history(&self) -> Vec<Message> {
        self.history.clone()
    }

    fn counters(&self) -> &dyn Counters {
        self
    }

    fn progress(&self, text: &str) -> Result<(), ToolError> {
        self.progress.borrow_mut().push(text.to_owned());
        if self.is_canceled.get() { Err(ToolError::new("the task has ended")) } else { Ok(()) }
    }

    fn is_canceled(&self) -> bool {
        self.is_canceled.get()
    }

    fn canceled(&self) -> LocalBoxFuture<'_, ()> {
        if self.is_canceled.get() {
            Box::pin(std::future::ready(()))
        } else {
            Box::pin(std::future::pending())
        }
    }

    fn sleep(&self, _millis: u64) -> LocalBoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'_, Result<HttpAnswer<String>, ToolError>> {
        Box::pin(async { Ok(self.http.send(request).await?.text().await?) })
    }

    fn http(&self) -> &dyn Http {
        &self.http
    }

    fn service(&self, name: &str) -> Rc<dyn Http> {
        match self.services.iter().find(|(known, _)| known == name) {
            Some((_, http)) => Rc::new(http.clone()),
            None => Rc::new(Unbound(name.to_owned())),
        }
    }

    fn secret(&self, name: &str) -> Result<Secret, ToolError> {
        let found = self.secrets.iter().find(|(known, _)| known == name);
        let found = found.filter(|(_, secret)| !secret.reveal().trim().is_empty());
        found.map(|(_, secret)| secret.clone()).ok_or_else(|| ToolError::no_secret(name))
    }

    fn var(&self, name: &str) -> Result<String, ToolError> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        let found = found.filter(|(_, value)| !value.trim().is_empty());
        found.map(|(_, value)| value.clone()).ok_or_else(|| ToolError::no_variable(name))
    }

    fn value(&self, name: &str) -> Result<Secret, ToolError> {
        self.secret(name).or_else(|_| self.var(name).map(Secret::new))
    }

    fn begin_step(&self, name: &str) -> Result<StepStart, ToolError> {
        let mut steps = self.steps.borrow_mut();
        if steps.crash_before.as_deref() == Some(name) {
            steps.crash_before = None;
            return Err(ToolError::new("the process was ended by the test"));
        }
        let nth = steps.begun.entry(name.to_owned()).or_default();
        *nth += 1;
        let nth = *nth;
        let done = steps.done.get(&(name.to_owned(), nth)).cloned();
        Ok(done.map_or(StepStart::New(nth), StepStart::Done))
    }

    fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ToolError> {
        self.steps.borrow_mut().done.insert((name.to_owned(), nth), outcome);
        Ok(())
    }
}

/// Another Worker that is not bound.
struct Unbound(String);

impl Http for Unbound {
    fn send(&self, _: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        Box::pin(std::future::ready(Err(unbound_service(&self.0))))
    }
}

#[async_trait(?Send)]
impl Counters for TestCall {
    async fn increment(&self, _owner: &str, _name: &str) -> Result<u64, String> {
        if !self.has_counters {
            return Err("D1_ERROR: secret host".to_owned());
        }
        self.count.set(self.count.get() + 1);
        Ok(self.count.get())
    }
}
