//! What takes more than one SQL statement of the index. ListTasks with artifacts calls the objects of the tasks on the
//! page. ListTasks whose first statement did not return the total sends a second statement to D1. ListWebhooks reads
//! the table of webhooks in trouble. DeleteContext (`context`) calls the objects of the tasks of a context.

use futures_util::{StreamExt, stream};
use serde_json::Value;
use worker::Env;

use super::context;
use crate::edge::bindings::ANSWERS_AT_ONCE;
use crate::edge::objects::{AskError, Object};
use crate::edge::service::index::Index;
use crate::edge::service::webhook_list::TroubleList;
use crate::forms::address::TaskAddress;
use crate::forms::command::Command;
use crate::front::listing::{not_listed, query_of, whole_page};
use crate::operation::list_tasks::Page;
use crate::operation::list_webhooks::{WebhookQuery, empty_page};
use crate::port::{Observation, Observer};
use a2a::binding::{MediaType, Reply};
use a2a::error::Error;
use a2a::model::{GetTaskRequest, ListTasksRequest, ListWebhooksRequest, TaskId, read_own};
use a2a::{Call, Outcome, TaskCall};

/// The page of a list, or the deletion of a page of a context.
///
/// # Errors
///
/// The error of an invalid request, or [`Error::Unavailable`] if the index or one of the objects does not answer.
pub(super) async fn find(
    env: &Env,
    command: Command<Call>,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    let (command, call) = command.take_call();
    match call {
        Call::List(request) => {
            list_tasks(env, &command, &request, observer).await.map(Outcome::Tasks)
        }
        Call::Webhooks(request) => {
            list_webhooks(env, &command, &request, observer).await.map(Outcome::Webhooks)
        }
        Call::Context(request) => {
            context::delete(env, &command, &request, observer).await.map(Outcome::ContextDeleted)
        }
        Call::Card | Call::Task(_) | Call::Follow(_) => Err(Error::Internal { task: None }),
    }
}

/// The result of ListTasks as JSON: the tasks of this caller with this agent.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a page token of another list; [`Error::Unavailable`] if the index or one of the objects
/// does not answer.
async fn list_tasks(
    env: &Env,
    command: &Command<()>,
    request: &ListTasksRequest,
    observer: &dyn Observer,
) -> Result<String, Error> {
    let query = query_of(command, request)?;
    if command.scope.hides_all(request) {
        return Ok(whole_page(&Page::empty(&query, request), request));
    }
    let mut lines = String::new();
    let found = Index::of(env).find(&query, &mut lines).await;
    let found = found.map_err(|error| {
        observer.observe(&Observation::ListingFailed { reason: &error.to_string() });
        not_listed()
    })?;
    let mut page = Page::new(&query, request, found);
    if !request.include_artifacts {
        return Ok(whole_page(&page, request));
    }
    let tasks = with_artifacts(env, command, request, &mut page, observer).await?;
    Ok(page.to_json(&tasks.join(",")))
}

/// The result of ListWebhooks as JSON: the webhooks in trouble of this caller's tasks with this agent. No object is
/// called.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a page token of another list; [`Error::Unavailable`] if D1 does not answer.
async fn list_webhooks(
    env: &Env,
    command: &Command<()>,
    request: &ListWebhooksRequest,
    observer: &dyn Observer,
) -> Result<String, Error> {
    let query = WebhookQuery::new(&command.agent, &command.caller, &command.scope, request)?;
    let Some(query) = query else { return Ok(empty_page()) };
    let found = TroubleList::of(env).find(&query).await.map_err(|error| {
        observer.observe(&Observation::ListingFailed { reason: &error.to_string() });
        Error::Unavailable(
            "webhooks cannot be listed at the moment; those of a task can, and notifications go on",
        )
    })?;
    Ok(query.page(found))
}

/// The tasks of the page, each read from its object, with [`ANSWERS_AT_ONCE`] calls at the same time. A task that no
/// longer exists is left out. The page ends early once its size has reached [`MAX_PAGE_BYTES`].
async fn with_artifacts(
    env: &Env,
    listing: &Command<()>,
    request: &ListTasksRequest,
    page: &mut Page<'_>,
    observer: &dyn Observer,
) -> Result<Vec<String>, Error> {
    let objects: Vec<TaskId> = page.tasks.iter().map(|task| task.position.id.clone()).collect();
    let asked = objects.into_iter().map(|id| {
        let address = TaskAddress::of_task(&id);
        let request = GetTaskRequest { tenant: None, id, history_length: request.history_length };
        let (agent, caller) = (listing.agent.clone(), listing.caller.clone());
        let (reply, call) = (Reply::rest(MediaType::Json), TaskCall::GetTask(request));
        let command = Command::new(agent, caller, reply, call);
        let command = if listing.is_operators() { command.of_operator() } else { command };
        ask_for_task(env, address, command, observer)
    });
    let mut answers = stream::iter(asked).buffered(ANSWERS_AT_ONCE).enumerate();
    let mut tasks = Vec::new();
    let mut size = 0;
    while let Some((index, task)) = answers.next().await {
        if let (Some(task), Some(found)) = (task?, page.tasks.get(index)) {
            let task = found.with_facts(task);
            size += task.len();
            tasks.push(task);
        }
        if size >= MAX_PAGE_BYTES {
            page.cut(index + 1);
            break;
        }
    }
    Ok(tasks)
}

/// The task as JSON from its object; `None` if the caller no longer has this task.
async fn ask_for_task(
    env: &Env,
    address: TaskAddress,
    command: Command,
    observer: &dyn Observer,
) -> Result<Option<String>, Error> {
    let unavailable = |reason: String| {
        observer.observe(&Observation::ListingFailed { reason: &reason });
        Error::Unavailable("the artifacts of these tasks are not available at the moment")
    };
    let object = match Object::at(env, &address) {
        Ok(object) => object,
        Err(AskError::Unknown) => return Ok(None),
        Err(error) => return Err(unavailable(error.to_string())),
    };
    let answer = object.call(&command).await.map_err(|error| unavailable(error.to_string()))?;
    match answer.status {
        200 => Ok(Some(with_artifacts_member(answer.body))),
        404 => Ok(None),
        status => Err(unavailable(format!("status {status}"))),
    }
}

/// The same task, with an empty list `artifacts` if the task has none: the answer to a request with `includeArtifacts`
/// always contains this member.
fn with_artifacts_member(task: String) -> String {
    let read: serde_json::Result<Value> = read_own(&task);
    let has_artifacts = read.is_ok_and(|task| task.get("artifacts").is_some());
    match task.strip_suffix('}') {
        Some(open) if !has_artifacts => format!(r#"{open},"artifacts":[]}}"#),
        Some(_) | None => task,
    }
}

/// The size at which a page with artifacts is ended early, in bytes. A Worker has 128 MB of memory.
const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_without_artifacts_gets_an_empty_list_of_them() {
        for (given, expected) in [
            (r#"{"id":"t"}"#, r#"{"id":"t","artifacts":[]}"#),
            (r#"{"id":"t","artifacts":[{}]}"#, r#"{"id":"t","artifacts":[{}]}"#),
        ] {
            assert_eq!(with_artifacts_member(given.to_owned()), expected);
        }
    }
}
