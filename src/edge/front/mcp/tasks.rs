//! Reads and cancels tasks: by the tasks extension, and by the tools `get_task` and `cancel_task` for clients without the
//! extension. The tool `delete_task` deletes them, which the tasks extension cannot.

use serde_json::{Map, Value, json};

use super::super::deployment::Front;
use super::address::{Place, task_named};
use super::catalog::Catalog;
use super::outcome::{TASK_NOT_FOUND, answer_to, failed, refused, task_json};
use super::outer::Outer;
use a2a::binding::http::HttpResponse;
use a2a::client::{Client, ClientError};
use a2a::model::{
    CancelTaskRequest, DeleteTaskRequest, GetTaskRequest, SendMessageConfiguration,
    SendMessageRequest, Task, TaskId,
};
use mcp::agents::{Waiting, result_of};
use mcp::model::{Answer, CallResult, Content, RpcError, code};
use mcp::server::Reply;

impl Front {
    /// Runs the tool `get_task`.
    pub(super) async fn get_task_tool(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        arguments: &Map<String, Value>,
    ) -> CallResult {
        match self.task_in(outer, catalog, arguments).await {
            // The call of the tool has succeeded, even if the task has failed.
            Ok(found) => CallResult { is_error: false, ..found.result() },
            Err(result) => result,
        }
    }

    /// Runs the tool `cancel_task`.
    pub(super) async fn cancel_task_tool(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        arguments: &Map<String, Value>,
    ) -> CallResult {
        let found = match self.task_in(outer, catalog, arguments).await {
            Ok(found) => found,
            Err(result) => return result,
        };
        match found.cancel().await {
            Ok(task) => CallResult { is_error: false, ..FoundTask { task, ..found }.result() },
            Err(error) => failed(&error),
        }
    }

    /// Runs the tool `delete_task`.
    pub(super) async fn delete_task_tool(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        arguments: &Map<String, Value>,
    ) -> CallResult {
        let force = match arguments.get("force") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(force)) => *force,
            Some(Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => {
                return refused("the argument force must be true or false");
            }
        };
        let found = match self.task_in(outer, catalog, arguments).await {
            Ok(found) => found,
            Err(result) => return result,
        };
        let id = found.task.id.clone();
        let said = format!("The task {id} is deleted.");
        match found.client.delete(DeleteTaskRequest { tenant: None, id, force }).await {
            Ok(()) => {
                CallResult { content: vec![Content::Text(said)], structured: None, is_error: false }
            }
            Err(error) => failed(&error),
        }
    }

    /// Answers `tasks/get`.
    pub(super) async fn get_mcp_task(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        reply: &Reply,
        id: &str,
    ) -> HttpResponse {
        match self.task_of_extension(outer, catalog, reply, id).await {
            Ok(found) => reply.result(task_json(&found.task, &found.place, reply.capabilities())),
            Err(answer) => answer,
        }
    }

    /// Answers `tasks/update`: passes the answers to the agent. Only the answer to the agent's current question is used.
    pub(super) async fn update_mcp_task(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        reply: &Reply,
        id: &str,
        answers: &[(String, Answer)],
    ) -> HttpResponse {
        let found = match self.task_of_extension(outer, catalog, reply, id).await {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        let done = reply.result(json!({}));
        let Some(waiting) = Waiting::of(&found.task) else { return done };
        let given = match waiting.answer_in(answers) {
            Some(answer @ Answer::Accept(_)) => {
                let parts = waiting.parts(answer).unwrap_or_default();
                let id = waiting.message_id();
                let message = answer_to(&found.task.id, id, parts, &found.client);
                let configuration = SendMessageConfiguration {
                    return_immediately: true,
                    ..SendMessageConfiguration::default()
                };
                let request =
                    SendMessageRequest { tenant: None, message, configuration, metadata: None };
                found.client.send(request).await.map(|_| ())
            }
            // Without the answer, the agent cannot continue.
            Some(Answer::Decline) => found.cancel().await.map(|_| ()),
            Some(Answer::Cancel) | None => Ok(()),
        };
        match given {
            Ok(()) => done,
            Err(error) => reply.error(&internal(&error)),
        }
    }

    /// Answers `tasks/cancel`. A task that has ended already is not an error.
    pub(super) async fn cancel_mcp_task(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        reply: &Reply,
        id: &str,
    ) -> HttpResponse {
        let found = match self.task_of_extension(outer, catalog, reply, id).await {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        match found.cancel().await {
            Err(error) if !is_code(&error, TASK_NOT_CANCELABLE) => reply.error(&internal(&error)),
            Ok(_) | Err(_) => reply.result(json!({})),
        }
    }

    /// The task with this id of the tasks extension.
    ///
    /// # Errors
    ///
    /// The answer to a request whose task was not found.
    async fn task_of_extension(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        reply: &Reply,
        id: &str,
    ) -> Result<FoundTask, HttpResponse> {
        let (slug, task) = task_named(id);
        match self.find_task(outer, catalog, slug, task).await {
            Ok(Some(found)) => Ok(found),
            Ok(None) => {
                let message = format!("there is no task {} for this caller", shown(id));
                Err(reply.error(&RpcError::new(code::INVALID_PARAMS, message)))
            }
            Err(error) => Err(reply.error(&internal(&error))),
        }
    }

    /// The task that arguments name.
    ///
    /// # Errors
    ///
    /// The result of a call whose task was not found.
    async fn task_in(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<FoundTask, CallResult> {
        let text = |name: &str| {
            let text = arguments.get(name).and_then(Value::as_str).map(str::trim);
            text.filter(|text| !text.is_empty())
        };
        let id = text("task_id").ok_or_else(|| refused("the argument task_id must be a text"))?;
        let (slug, task) = task_named(id);
        let found = self.find_task(outer, catalog, text("agent").or(slug), task).await;
        let found = found.map_err(|error| failed(&error))?;
        found.ok_or_else(|| refused(&format!("there is no task {} for this caller", shown(id))))
    }

    /// The task with this id, of the agent with this slug, or of any agent that the request may call.
    ///
    /// # Errors
    ///
    /// If the task was not found, and a request to at least one agent failed.
    pub(super) async fn find_task(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        slug: Option<&str>,
        id: &str,
    ) -> Result<Option<FoundTask>, ClientError> {
        let Some(id) = TaskId::new(id) else { return Ok(None) };
        let agents = catalog.scope.admitted.iter();
        let agents = agents.filter(|admitted| slug.is_none_or(|slug| slug == admitted.agent.slug));
        let mut failure = None;
        for admitted in agents.take(MAX_ASKED) {
            let Some(card) = catalog.card(admitted) else { continue };
            let place = catalog.place(&admitted.agent.slug);
            let client = outer.client(&place.slug, card);
            let request = GetTaskRequest { tenant: None, id: id.clone(), history_length: None };
            match client.get(request).await {
                Ok(task) => return Ok(Some(FoundTask { place, client, task })),
                Err(error) if is_code(&error, TASK_NOT_FOUND) => {}
                // Another agent may have the task.
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(None), Err)
    }
}

/// A task that was found.
pub(super) struct FoundTask {
    /// The agent of the task.
    pub(super) place: Place,
    /// A client of the agent.
    client: Client,
    pub(super) task: Task,
}

impl FoundTask {
    fn result(&self) -> CallResult {
        result_of(&self.task, &self.place.slug, &self.place.address_of(&self.task.id))
    }

    async fn cancel(&self) -> Result<Task, ClientError> {
        let id = self.task.id.clone();
        self.client.cancel(CancelTaskRequest { tenant: None, id, metadata: None }).await
    }
}

fn is_code(error: &ClientError, code: i32) -> bool {
    matches!(error, ClientError::Remote(error) if error.code == code)
}

/// The error for an agent that does not answer or refuses.
pub(super) fn internal(error: &ClientError) -> RpcError {
    let text = match error {
        ClientError::Remote(error) => error.message.clone(),
        error => error.to_string(),
    };
    RpcError::new(code::INTERNAL, text)
}

fn shown(id: &str) -> String {
    id.chars().take(80).collect()
}

/// The largest number of agents that are searched for a task whose agent is unknown.
const MAX_ASKED: usize = 20;

const TASK_NOT_CANCELABLE: i32 = -32_002;
