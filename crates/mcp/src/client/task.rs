//! Calls that servers continue as tasks: the extension `io.modelcontextprotocol/tasks` of 2026-07-28.

use futures_util::future::LocalBoxFuture;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::asking::responses;
use super::error::excerpt;
use super::open::{Ask, put};
use super::questions::questions;
use super::{Client, McpError};
use crate::model::{Answer, CallResult, Question, RpcError};
use a2a::model::decode::{Decode, Fields};

/// A task of a server. The handle contains all data for reading the task later, so callers may store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHandle {
    /// The id that the server has generated.
    pub id: String,
    /// The time between two reads, in milliseconds: the server's value, at least 1,000, at most 300,000.
    pub poll_interval_ms: u64,
    /// The time for which the server stores the task, from the task's creation, in milliseconds; `None` if there is no
    /// limit.
    pub ttl_ms: Option<u64>,
}

/// A snapshot of a server's task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskLook {
    /// The state of the task.
    pub state: TaskState,
    /// The server's description of the state, for people.
    pub message: Option<String>,
    /// The time until the next read, as in [`TaskHandle::poll_interval_ms`].
    pub poll_interval_ms: u64,
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskState {
    /// The tool is running.
    Working,
    /// The task waits for answers to these questions ([`Client::answer_task`]). A key belongs to the same question during
    /// the whole life of the task.
    Asked(Vec<Question>),
    /// The tool has run.
    Completed(CallResult),
    /// The call has failed with an error of the protocol.
    Failed(RpcError),
    /// The task was canceled.
    Cancelled,
}

impl Serialize for TaskHandle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl Decode for TaskHandle {
    fn decode(fields: &mut Fields) -> Option<Self> {
        fields.rest("a task of a server", Self::read)
    }
}

impl TaskHandle {
    /// The stored form of the task.
    pub fn to_json(&self) -> Value {
        json!({"id": self.id, "pollIntervalMs": self.poll_interval_ms, "ttlMs": self.ttl_ms})
    }

    /// Reads a task from its stored form; `None` if `json` is not a task.
    pub fn read(json: &Value) -> Option<Self> {
        let id = json.get("id").and_then(Value::as_str)?.to_owned();
        Some(Self { id, ..Self::bounds(json) })
    }

    /// The handle for a task in the form of a server.
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
    /// Reads the state of a task.
    ///
    /// # Errors
    ///
    /// If the server does not know the task (any more), or cannot be called.
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

    /// Answers some or all questions of a task, each by its key. The server may continue the task later;
    /// [`task`](Self::task) returns the state.
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

    /// Requests that the server cancels a task. The server may ignore the request, or the task may have ended already;
    /// [`task`](Self::task) returns the state.
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

/// The time between two reads, if the server sends none, and the limits for the server's value, in milliseconds.
const POLL_MS: u64 = 2_000;
const MIN_POLL_MS: u64 = 1_000;
const MAX_POLL_MS: u64 = 300_000;
