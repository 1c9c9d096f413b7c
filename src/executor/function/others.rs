//! Requests of a run to other agents and to MCP servers.

use std::rc::Rc;

use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use super::run::{OpenRun, Refused, Role, read_value};
use crate::executor::call::desk::Desk;
use crate::executor::call::mcp::content::parts_of;
use crate::executor::call::mcp::{Answers, End, McpTool, ServerCall, bare, failure};
use crate::executor::{ExecutorError, Turn};
use crate::port::{Work, WorkEnd};
use a2a::client::{Client, Observed, Outcome};
use a2a::model::decode::{Decode, Fields, read_json};
use a2a::model::{
    CancelTaskRequest, Message, Metadata, Part, SendMessageConfiguration, SendMessageRequest, Task,
    TaskId, measure, to_json,
};
use a2a::model::{ContextId, Role as Sender};

/// A request to another agent, as `js/api` describes it.
struct Question {
    parts: Vec<Part>,
    /// The id of the message: the same in each attempt, so that the agent recognizes a repetition.
    key: String,
    task_id: Option<TaskId>,
    context_id: Option<ContextId>,
    metadata: Option<Metadata>,
    timeout_ms: Option<u64>,
}

impl Decode for Question {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            parts: fields.required_list("parts")?,
            key: fields.required_string("key")?,
            task_id: fields.id("taskId"),
            context_id: fields.id("contextId"),
            metadata: fields.metadata("metadata"),
            timeout_ms: fields.number("timeoutMs"),
        })
    }
}

impl Question {
    fn request(self) -> SendMessageRequest {
        let Self { parts, key, task_id, context_id, metadata, .. } = self;
        let message = Message {
            message_id: key,
            context_id,
            task_id,
            role: Sender::User,
            parts,
            metadata,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        };
        let configuration = SendMessageConfiguration::default();
        SendMessageRequest { tenant: None, message, configuration, metadata: None }
    }
}

impl OpenRun {
    /// Sends a message to another agent, and follows its task until it ends or asks. Returns `{"outcome", "text", "task"?}`. If our task is canceled,
    /// the other task is canceled, too.
    ///
    /// # Errors
    ///
    /// If there is no agent of this name, or the request has another form.
    pub async fn remote_send(self: Rc<Self>, name: &str, request: &str) -> Result<String, Refused> {
        let (client, question) = self.asked(name, request)?;
        let turn = &self.turn;
        self.note_input(&format!("ask {name}"), &question.key, &|| json!(question.parts));
        let is_canceled = || turn.is_canceled();
        let observe = a2a::client::Observe {
            is_canceled: Some(&is_canceled),
            ..a2a::client::Observe::default()
        };
        let timed = self.time("agent", &question.key, 1);
        let observed = Box::pin(client.observe(question.request(), observe));
        let Observed { outcome, text, task, .. } = turn.within(timed.as_ref(), observed).await;
        let has_failed = matches!(outcome, Outcome::Failed | Outcome::Timeout);
        turn.end_timed(timed, Work::Agent(name), WorkEnd::of(has_failed));
        self.check()?;
        let mut answer = Map::new();
        answer.insert("outcome".to_owned(), json!(outcome_name(outcome)));
        answer.insert("text".to_owned(), json!(text));
        if let Some(task) = task {
            answer.insert("task".to_owned(), json!(storable(task)));
        }
        Ok(Value::Object(answer).to_string())
    }

    /// Opens a stream of the events of a message to another agent. Returns the number of the stream.
    ///
    /// # Errors
    ///
    /// As for [`remote_send`](Self::remote_send).
    pub fn remote_stream(&self, name: &str, request: &str) -> Result<u32, Refused> {
        let (client, question) = self.asked(name, request)?;
        let stream = client.send_streaming(question.request());
        let number = self.newest_stream.get().wrapping_add(1);
        self.newest_stream.set(number);
        self.streams.borrow_mut().insert(number, stream);
        Ok(number)
    }

    /// The next event of a stream, in the form of the protocol; empty text at its end.
    ///
    /// # Errors
    ///
    /// If the stream breaks.
    pub async fn remote_next(self: Rc<Self>, number: u32) -> Result<String, Refused> {
        let taken = self.streams.borrow_mut().remove(&number);
        let Some(mut stream) = taken else { return Ok(String::new()) };
        let next = stream.next().await;
        self.check()?;
        match next {
            Some(Ok(event)) => {
                self.streams.borrow_mut().insert(number, stream);
                Ok(to_json(&event.event)?)
            }
            Some(Err(error)) => Err(Refused::Because(error.to_string())),
            None => Ok(String::new()),
        }
    }

    /// Closes a stream. The other task goes on.
    pub fn remote_close(&self, number: u32) {
        let closed = self.streams.borrow_mut().remove(&number);
        drop(closed);
    }

    /// Cancels a task of another agent.
    ///
    /// # Errors
    ///
    /// If the agent does not cancel the task.
    pub async fn remote_cancel(
        self: Rc<Self>,
        name: &str,
        task_id: &str,
    ) -> Result<String, Refused> {
        let client = self.remote(name)?;
        let id = TaskId::new(task_id)
            .ok_or_else(|| Refused::Because("the id of a task is not empty".to_owned()))?;
        let request = CancelTaskRequest { tenant: None, id, metadata: None };
        client.cancel(request).await.map_err(|error| Refused::Because(error.to_string()))?;
        Ok(String::new())
    }

    /// The card of another agent.
    ///
    /// # Errors
    ///
    /// If the card cannot be fetched.
    pub async fn remote_card(self: Rc<Self>, name: &str) -> Result<String, Refused> {
        let client = self.remote(name)?;
        let card = client.card().await.map_err(|error| Refused::Because(error.to_string()))?;
        Ok(card.json.to_string())
    }

    /// The tools of an MCP server that the agent may call: `[{"name", "description"?, "inputSchema", "isReadOnly"}]`.
    ///
    /// # Errors
    ///
    /// If the server does not list its tools.
    pub async fn mcp_tools(self: Rc<Self>, name: &str) -> Result<String, Refused> {
        self.check()?;
        let server = self.turn.mcp_server(name)?;
        let known = self.turn.run_outside.mcp_tools(&server, None).await;
        let known = known.map_err(|error| Refused::Because(failure(name, &error)))?;
        let tool = |tool: &mcp::model::Tool| {
            json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema,
                "isReadOnly": tool.annotations.read_only.unwrap_or(false)})
        };
        Ok(known.tools.iter().map(tool).collect::<Value>().to_string())
    }

    /// Calls a tool of an MCP server. `key` names the call in the steps of the task, the same in each attempt. Returns `{"parts", "structured"?}`.
    ///
    /// # Errors
    ///
    /// If the tool fails, asks the client, or cannot be called.
    pub async fn mcp_call(
        self: Rc<Self>,
        server: &str,
        tool: &str,
        arguments: &str,
        key: &str,
    ) -> Result<String, Refused> {
        self.check()?;
        if let Role::Hook = self.role {
            return Err(Refused::Because("`onCancel` cannot call tools of MCP servers".to_owned()));
        }
        let Value::Object(arguments) = read_value(arguments)? else {
            return Err(Refused::Because("the arguments of a tool are an object".to_owned()));
        };
        self.note_input(&format!("call {server} {tool}"), key, &|| arguments.clone().into());
        let end = Box::pin(call(&self, server, tool, arguments, key)).await?;
        self.wake();
        let asks = || {
            Err(Refused::Because(format!(
                "the tool {tool} of {server} asks its user, which functions cannot answer; use an agent of kind \"tools\" or \"model\""
            )))
        };
        match end {
            End::Finished(result) => {
                let (is_error, structured) = (result.is_error, result.structured.clone());
                let parts = parts_of(result);
                if is_error {
                    let text: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
                    return Err(Refused::Because(format!(
                        "the tool {tool} of {server} failed: {}",
                        text.join(" ")
                    )));
                }
                let mut answer = Map::new();
                answer.insert("parts".to_owned(), json!(parts));
                answer.extend(structured.map(|value| ("structured".to_owned(), value)));
                Ok(Value::Object(answer).to_string())
            }
            End::Asked(..) => asks(),
            End::Failed(error) => Err(Refused::Because(failure(server, &error))),
            End::Unknown => Err(Refused::Because(format!(
                "it is not known whether {server} has carried out {tool}"
            ))),
            End::Canceled => Err(Refused::Over(crate::port::RunEnd::Canceled)),
        }
    }

    /// Notes what a step of the function is given. Its key ends with the number of the step; a call that is no step has another end.
    fn note_input(&self, step: &str, key: &str, input: &dyn Fn() -> Value) {
        if let Some(nth) = key.rsplit('/').next().and_then(|nth| nth.parse().ok()) {
            self.turn.run_task.note_input(&self.step_name(step), nth, input);
        }
    }

    fn asked(&self, name: &str, request: &str) -> Result<(Client, Question), Refused> {
        let client = self.remote(name)?;
        let question: Question = read_json(request)?;
        let settings = client.settings();
        let timeout_ms = question.timeout_ms.unwrap_or(u64::MAX).min(settings.timeout_ms);
        let settings = a2a::client::Settings { timeout_ms, ..settings.clone() };
        Ok((client.with_settings(settings), question))
    }

    fn remote(&self, name: &str) -> Result<Client, Refused> {
        self.check()?;
        Ok(self.turn.remote(name)?)
    }
}

async fn call(
    run: &OpenRun,
    server: &str,
    tool: &str,
    arguments: Map<String, Value>,
    key: &str,
) -> Result<End, ExecutorError> {
    let turn: &Turn = &run.turn;
    let found = turn.mcp_server(server)?;
    let known = turn.run_outside.mcp_tools(&found, None).await.ok();
    let refuse = |_: &str, _: &mcp::model::Question| {
        Err(ExecutorError(format!(
            "the tool {tool} of {server} asks its user, which functions cannot answer"
        )))
    };
    let desk = Desk::new(turn, &run.events, refuse);
    let described = bare(tool);
    let tool = McpTool {
        id: tool.to_owned(),
        server: server.to_owned(),
        tool: described,
        description: String::new(),
        repeats: true,
    };
    let made = ServerCall {
        turn,
        events: &run.events,
        tool: &tool,
        key,
        is_doubtful: false,
        desk: &desk,
        parked_ms: None,
    };
    run.in_its_span(Box::pin(made.make(found, known, arguments, Answers::default()))).await
}

/// The task of another agent as the result of a step: without its history, and without artifacts that are too large.
fn storable(task: Task) -> Task {
    let task = Task { history: Vec::new(), ..task };
    let (bytes, _) = measure(&task);
    if bytes > MAX_TASK_BYTES { Task { artifacts: Vec::new(), ..task } } else { task }
}

/// The largest task in the answer of another agent, in bytes: half of what a step may hold by default. The texts of the artifacts are
/// in the text of the answer.
const MAX_TASK_BYTES: usize = 128 * 1024;

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::InputRequired => "input-required",
        Outcome::AuthRequired => "auth-required",
        Outcome::Failed => "failed",
        Outcome::Canceled => "canceled",
        Outcome::Timeout => "timeout",
    }
}
