//! ListTasks: asks the index and, for artifacts, the objects of the tasks on the page. ListWebhooks: asks the list of those in
//! trouble.
//!
//! # A listing
//!
//! The front Worker answers ListTasks from D1 (`edge/service/index/`) without waking an object, by one statement: a row for each task, which is one line of text,
//! and the total. What was stored as JSON goes into the answer as it is. Artifacts are an exception: then the objects of the page are
//! asked (`edge/front/listing.rs`), six at a time, and a page ends early at 8 MiB. `operation/list_tasks.rs` builds the query and the page token: the position where the
//! next page begins, and a hash of the filters. Tasks that are added meanwhile come before that position. While D1 is down, ListTasks answers −32603, or
//! 503 with `Retry-After`; everything else goes on.
//!
//! How rows get there: after each stored change the session compares the generation in the index with that of the task's status. If the index is behind and no
//! write is under way, one pump starts (`session/debts/mod.rs`): it gathers changes until the task rests or 300 ms are over, writes one row, and repeats while
//! something is owed. A blocking send and a cancel wait for the row, for `INDEX_WAIT_MS` at most, so that a client that lists next sees its task. A
//! failure, or no answer within 10 s, is counted and retried by the alarm.

use futures_util::{StreamExt, stream};
use serde_json::Value;
use worker::Env;

use crate::edge::bindings::ANSWERS_AT_ONCE;
use crate::edge::objects::{AskError, Object};
use crate::edge::service::index::D1Index;
use crate::edge::service::webhook_list::D1WebhookList;
use crate::forms::address::TaskAddress;
use crate::forms::command::Command;
use crate::operation::list_tasks::{Page, TaskQuery};
use crate::operation::list_webhooks::{WebhookQuery, empty_page};
use crate::port::{Observation, Observer};
use a2a::TaskCall;
use a2a::binding::{MediaType, Reply};
use a2a::error::Error;
use a2a::model::{
    GetTaskRequest, HistoryLimit, ListTasksRequest, ListWebhooksRequest, TaskId, read_own,
};

/// What a command asks of the index.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a page token that does not fit.
pub(super) fn query_of<C>(
    command: &Command<C>,
    request: &ListTasksRequest,
) -> Result<TaskQuery, Error> {
    TaskQuery::new(&command.agent, &command.caller, &command.scope, request)
}

/// The result of ListTasks as JSON: the tasks of this caller with this agent.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a page token that does not fit; [`Error::Unavailable`] when the index
/// or one of the objects does not answer.
pub(super) async fn list_tasks(
    env: &Env,
    command: &Command<()>,
    request: &ListTasksRequest,
    observer: &dyn Observer,
) -> Result<String, Error> {
    let query = query_of(command, request)?;
    if command.scope.hides_all(request) {
        return Ok(whole_page(&Page::empty(&query, request), request));
    }
    let found = D1Index { env: env.clone() }.find(&query).await;
    let found = found.map_err(|error| listing_failed(&error.to_string(), observer))?;
    let mut page = Page::new(&query, request, found);
    if !request.include_artifacts {
        return Ok(whole_page(&page, request));
    }
    let tasks = with_artifacts(env, command, request, &mut page, observer).await?;
    Ok(page.to_json(&tasks))
}

/// The result with the tasks as the index has them.
pub(super) fn whole_page(page: &Page, request: &ListTasksRequest) -> String {
    let history = HistoryLimit::from_wire(request.history_length);
    let tasks: Vec<String> = page.tasks.iter().map(|task| task.to_json(history)).collect();
    page.to_json(&tasks)
}

/// The error for an index that does not answer as it should.
pub(super) fn listing_failed(reason: &str, observer: &dyn Observer) -> Error {
    observer.observe(&Observation::ListingFailed { reason });
    Error::Unavailable("tasks cannot be listed at the moment; they go on, and GetTask gives them")
}

/// The result of ListWebhooks as JSON: the webhooks in trouble of this caller's tasks with this agent. No task is asked.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a page token that does not fit; [`Error::Unavailable`] when D1 does not answer.
pub(super) async fn list_webhooks(
    env: &Env,
    command: &Command<()>,
    request: &ListWebhooksRequest,
    observer: &dyn Observer,
) -> Result<String, Error> {
    let query = WebhookQuery::new(&command.agent, &command.caller, &command.scope, request)?;
    let Some(query) = query else { return Ok(empty_page()) };
    let found = D1WebhookList { env: env.clone() }.find(&query).await.map_err(|error| {
        observer.observe(&Observation::ListingFailed { reason: &error.to_string() });
        Error::Unavailable(
            "webhooks cannot be listed at the moment; those of a task can, and notifications go on",
        )
    })?;
    Ok(query.page(found))
}

/// The tasks of the page as their objects have them, [`ANSWERS_AT_ONCE`] asked at a time. A task that
/// has vanished is left out. The page ends early once it has grown to [`MAX_PAGE_BYTES`].
async fn with_artifacts(
    env: &Env,
    listing: &Command<()>,
    request: &ListTasksRequest,
    page: &mut Page,
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
            let task = found.with_owner(task);
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

/// What the object of a task answers; `None` if the caller has no such task any more.
async fn ask_for_task(
    env: &Env,
    address: TaskAddress,
    command: Command,
    observer: &dyn Observer,
) -> Result<Option<String>, Error> {
    let unavailable = |reason: String| {
        observer.observe(&Observation::ListingFailed { reason: &reason });
        Error::Unavailable("the artifacts of these tasks cannot be had at the moment")
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

/// The same task, with an empty list if it has no artifacts: who asks for them finds the member.
fn with_artifacts_member(task: String) -> String {
    let read: serde_json::Result<Value> = read_own(&task);
    let has_artifacts = read.is_ok_and(|task| task.get("artifacts").is_some());
    match task.strip_suffix('}') {
        Some(open) if !has_artifacts => format!(r#"{open},"artifacts":[]}}"#),
        Some(_) | None => task,
    }
}

/// How large a page with artifacts grows before it is ended early, in bytes. A Worker has 128 MB.
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
