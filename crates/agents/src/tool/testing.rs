//! Calls of tools, for the tests beside them.

use std::cell::{Cell, RefCell};

use async_trait::async_trait;
use futures_executor::block_on;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::{Counters, Tool, ToolCall, ToolError, call_checked};
use a2a::http::memory::MemoryHttp;
use a2a::http::{Http, HttpAnswer, HttpRequest};
use a2a::model::{Secret, UnixMillis};

/// Calls a tool in a [`TestCall`].
///
/// # Errors
///
/// What is wrong with the arguments, or the tool's own reason.
pub fn call(tool: &dyn Tool, arguments: Value) -> Result<Value, ToolError> {
    TestCall::default().call(tool, arguments)
}

/// A call in memory, at 2026-01-05T09:00:01.250Z.
pub struct TestCall {
    /// What the caller may do; nothing unless given.
    pub permissions: Vec<String>,
    /// Whether the counters can be reached.
    pub has_counters: bool,
    /// Secrets of the Worker, each with its name.
    pub secrets: Vec<(String, Secret)>,
    /// Other servers.
    pub http: MemoryHttp,
    /// Whether the caller has canceled the call.
    pub is_canceled: Cell<bool>,
    /// How far the tool said that it had come, in order.
    pub progress: RefCell<Vec<String>>,
    /// What the counters have come to.
    pub count: Cell<u64>,
}

impl Default for TestCall {
    fn default() -> Self {
        Self {
            permissions: Vec::new(),
            has_counters: true,
            secrets: Vec::new(),
            http: MemoryHttp::default(),
            is_canceled: Cell::new(false),
            progress: RefCell::default(),
            count: Cell::new(0),
        }
    }
}

impl TestCall {
    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// As [`call`].
    pub fn call(&self, tool: &dyn Tool, arguments: Value) -> Result<Value, ToolError> {
        block_on(call_checked(tool, arguments, self))
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

    fn counters(&self) -> &dyn Counters {
        self
    }

    fn progress(&self, text: &str) -> Result<(), ToolError> {
        self.progress.borrow_mut().push(text.to_owned());
        match self.is_canceled.get() {
            true => Err(ToolError("the task has ended".to_owned())),
            false => Ok(()),
        }
    }

    fn is_canceled(&self) -> bool {
        self.is_canceled.get()
    }

    fn canceled(&self) -> LocalBoxFuture<'_, ()> {
        match self.is_canceled.get() {
            true => Box::pin(std::future::ready(())),
            false => Box::pin(std::future::pending()),
        }
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

    fn secret(&self, name: &str) -> Option<Secret> {
        let found = self.secrets.iter().find(|(known, _)| known == name);
        found.map(|(_, secret)| secret.clone())
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
