//! Calls that servers go on with as tasks: the extension `io.modelcontextprotocol/tasks` of 2026-07-28.

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value, json};

use super::asking::responses;
use super::error::excerpt;
use super::open::{Ask, put};
use super::questions::questions;
use super::{Client, McpError};
use crate::model::{Answer, CallResult, Question, RpcError};

/// A task of a server. Callers may keep it: it says all that is needed to look for the task later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHandle {
    /// The id that the server gave it.
    pub id: String,
    /// How long to wait between two looks, in milliseconds: what the server wants, at least 1,000, at most 300,000.
    pub poll_interval_ms: u64,
    /// How long the server keeps it, from its beginning, in milliseconds; `None` if there is no bound.
    pub ttl_ms: Option<u64>,
}

/// A task of a server as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskLook {
    /// Where it stands.
    pub state: TaskState,
    /// What the server says about that, for people.
    pub message: Option<String>,
    /// How long to wait until the next look, as in [`TaskHandle::poll_interval_ms`].
    pub poll_interval_ms: u64,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskState {
    /// It is at work.
    Working,
    /// It waits for answers to these questions ([`Client::answer_task`]). A key stands for one question as long as the task
    /// lives.
    Asked(Vec<Question>),
    /// The tool has run.
    Completed(CallResult),
    /// The call has failed, with an error of the protocol.
    Failed(RpcError),
    /// It was canceled.
    Cancelled,
}

impl TaskHandle {
    /// As it is kept.
    pub fn to_json(&self) -> Value {
        json!({"id": self.id, "pollIntervalMs": self.poll_interval_ms, "ttlMs": self.ttl_ms})
    }

    /// One that was kept; `None` for anything else.
    pub fn read(json: &Value) -> Option<Self> {
        let id = json.get("id").and_then(Value::as_str)?.to_owned();
        Some(Self { id, ..Self::bounds(json) })
    }

    /// That of a task as a server writes it.
    pub(super) fn of(task: &Value) -> Result<Self, McpError> {
        let id = task.get("taskId").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            let reason =
                format!("the server made a task without an id of 1 to {MAX_ID_BYTES} bytes");
            return Err(McpError::Unexpected(reason));
        }
        Ok(Self { id: id.to_owned(), ..Self::bounds(task) })
    }

    fn bounds(json: &Value) -> Self {
        let millis = |name: &str| {
            json.get(name).and_then(Value::as_f64).map(|millis| millis.max(0.0) as u64)
        };
        let poll_interval_ms =
            millis("pollIntervalMs").unwrap_or(POLL_MS).clamp(MIN_POLL_MS, MAX_POLL_MS);
        Self { id: String::new(), poll_interval_ms, ttl_ms: millis("ttlMs") }
    }
}

impl Client {
    /// Looks at a task.
    ///
    /// # Errors
    ///
    /// If the server does not know it (any more), or cannot be called.
    pub fn task<'a>(
        &'a self,
        task: &'a TaskHandle,
    ) -> LocalBoxFuture<'a, Result<TaskLook, McpError>> {
        Box::pin(async move {
            let result = self.ask_of_task("tasks/get", task, Map::new()).await?;
            let status = result.get("status").and_then(Value::as_str).unwrap_or_default();
            let absent =
                |what: &str| McpError::NotMcp(format!("the task is {status}, and has no {what}"));
            let state = match status {
                "working" => TaskState::Working,
                "input_required" => TaskState::Asked(questions(&result)?),
                "completed" => {
                    let read = result.get("result").and_then(CallResult::read);
                    TaskState::Completed(read.ok_or_else(|| absent("result"))?)
                }
                "failed" => {
                    let read = result.get("error").and_then(RpcError::read);
                    TaskState::Failed(read.ok_or_else(|| absent("error"))?)
                }
                "cancelled" => TaskState::Cancelled,
                other => {
                    let reason = format!(
                        "the task has the status \"{}\", which is not known here",
                        excerpt(other)
                    );
                    return Err(McpError::Unexpected(reason));
                }
            };
            let message = result.get("statusMessage").and_then(Value::as_str);
            let message =
                message.map(|text| text.chars().take(MAX_MESSAGE_CHARS).collect::<String>());
            let poll_interval_ms = if result.get("pollIntervalMs").is_some_and(Value::is_number) {
                TaskHandle::bounds(&result).poll_interval_ms
            } else {
                task.poll_interval_ms
            };
            Ok(TaskLook {
                state,
                message: message.filter(|text| !text.trim().is_empty()),
                poll_interval_ms,
            })
        })
    }

    /// Answers questions of a task, some of them or all, each by its key. That the server has got them does not mean that it has gone
    /// on: the next looks tell.
    ///
    /// # Errors
    ///
    /// As [`task`](Self::task).
    pub fn answer_task<'a>(
        &'a self,
        task: &'a TaskHandle,
        answers: &'a [(String, Answer)],
    ) -> LocalBoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let mut params = Map::new();
            put(&mut params, "inputResponses", responses(answers));
            self.ask_of_task("tasks/update", task, params).await.map(|_| ())
        })
    }

    /// Asks the server to cancel a task. It need not, or may have finished: the next looks tell.
    ///
    /// # Errors
    ///
    /// As [`task`](Self::task).
    pub fn cancel_task<'a>(
        &'a self,
        task: &'a TaskHandle,
    ) -> LocalBoxFuture<'a, Result<(), McpError>> {
        Box::pin(
            async move { self.ask_of_task("tasks/cancel", task, Map::new()).await.map(|_| ()) },
        )
    }

    fn ask_of_task<'a>(
        &'a self,
        method: &'static str,
        task: &'a TaskHandle,
        mut params: Map<String, Value>,
    ) -> LocalBoxFuture<'a, Result<Value, McpError>> {
        Box::pin(async move {
            put(&mut params, "taskId", json!(task.id));
            let ask = Ask { name: Some(task.id.clone()), ..self.plain(method, params) };
            self.within(self.settings().call_timeout_ms, Box::pin(self.ask(ask))).await
        })
    }
}

const MAX_ID_BYTES: usize = 1_024;
const MAX_MESSAGE_CHARS: usize = 2_000;

/// How long to wait between two looks where the server does not say it, and within which bounds it may.
const POLL_MS: u64 = 2_000;
const MIN_POLL_MS: u64 = 1_000;
const MAX_POLL_MS: u64 = 300_000;
