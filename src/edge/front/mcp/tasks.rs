//! Tasks, for clients that do not know them otherwise: the tools `get_task` and `cancel_task`.

use serde_json::{Map, Value};

use super::super::decision::Front;
use super::call::{address_of, failed};
use super::catalog::Catalog;
use super::outer::Outer;
use a2a::client::{Client, ClientError};
use a2a::model::{CancelTaskRequest, GetTaskRequest, Task, TaskId};
use mcp::agents::result_of;
use mcp::model::{CallResult, Content};

impl Front {
    /// Carries out the tool `get_task`.
    pub(super) async fn get_task_tool(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        arguments: &Map<String, Value>,
    ) -> CallResult {
        match self.task_in(outer, catalog, arguments).await {
            // The look itself has not failed.
            Ok(found) => CallResult { is_error: false, ..found.result(catalog) },
            Err(result) => result,
        }
    }

    /// Carries out the tool `cancel_task`.
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
        let id = found.task.id.clone();
        match found.client.cancel(CancelTaskRequest { tenant: None, id, metadata: None }).await {
            Ok(task) => {
                let found = FoundTask { task, ..found };
                CallResult { is_error: false, ..found.result(catalog) }
            }
            Err(error) => failed(&error),
        }
    }

    /// The task that arguments name.
    ///
    /// # Errors
    ///
    /// The result of a call without one.
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
        let found = self.find_task(outer, catalog, text("agent"), id).await;
        found?.ok_or_else(|| {
            let shown: String = id.chars().take(80).collect();
            refused(&format!("there is no task {shown} for this caller"))
        })
    }

    /// The task of this id, of the agent of this slug or of any that the request may call.
    ///
    /// # Errors
    ///
    /// The result of a call whose agent cannot be asked.
    pub(super) async fn find_task(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        slug: Option<&str>,
        id: &str,
    ) -> Result<Option<FoundTask>, CallResult> {
        let agents = catalog.scope.admitted.iter();
        let agents = agents.filter(|admitted| slug.is_none_or(|slug| slug == admitted.agent.slug));
        let mut failure = None;
        for admitted in agents.take(MAX_ASKED) {
            let Some(card) = catalog.card(admitted) else { continue };
            let slug = admitted.agent.slug.clone();
            let client = outer.client(&slug, card);
            let request =
                GetTaskRequest { tenant: None, id: TaskId::new(id), history_length: None };
            match client.get(request).await {
                Ok(task) => return Ok(Some(FoundTask { slug, client, task })),
                Err(ClientError::Remote(error)) if error.code == TASK_NOT_FOUND => {}
                // Another agent may have it.
                Err(error) => failure = failure.or_else(|| Some(failed(&error))),
            }
        }
        failure.map_or(Ok(None), Err)
    }
}

/// A task that was found.
pub(super) struct FoundTask {
    /// The agent whose task it is.
    pub(super) slug: String,
    /// A client of that.
    pub(super) client: Client,
    pub(super) task: Task,
}

impl FoundTask {
    fn result(&self, catalog: &Catalog<'_>) -> CallResult {
        let address = address_of(catalog.origin, &self.slug, &self.task.id);
        result_of(&self.task, &self.slug, &address)
    }
}

/// The result of a call that was made wrongly.
pub(super) fn refused(reason: &str) -> CallResult {
    CallResult { content: vec![Content::Text(reason.to_owned())], structured: None, is_error: true }
}

/// How many agents are asked for a task of which nobody says whose it is.
const MAX_ASKED: usize = 20;

const TASK_NOT_FOUND: i32 = -32_001;
