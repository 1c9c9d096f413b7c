//! DeleteContext, an operation of our extension: deletes the tasks of one page of a context. `docs/deleting.md` describes it.
//!
//! The index tells which tasks the context has; the object of each task deletes it, as by DeleteTask. Nothing is remembered between
//! two calls: what a call has deleted is no longer listed, so a call that was interrupted is repeated.

use futures_util::{StreamExt, stream};
use worker::Env;

use crate::edge::bindings::ANSWERS_AT_ONCE;
use crate::edge::objects::{AskError, Object};
use crate::edge::service::index::Index;
use crate::forms::address::TaskAddress;
use crate::forms::command::Command;
use crate::front::listing::{not_listed, query_of};
use crate::operation::list_tasks::Page;
use crate::port::{Observation, Observer};
use a2a::TaskCall;
use a2a::binding::{MediaType, Reply};
use a2a::error::Error;
use a2a::model::{
    ContextDeletion, DeleteContextRequest, DeleteTaskRequest, ListTasksRequest, TaskId, encode,
};

/// The result of DeleteContext as JSON. The tasks are those of this caller with this agent, newest first, with
/// [`ANSWERS_AT_ONCE`] calls of objects at the same time.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a page token of another list; [`Error::Unavailable`] if the index or one of the objects does not
/// answer: some tasks may be deleted then.
pub(super) async fn delete(
    env: &Env,
    command: &Command<()>,
    request: &DeleteContextRequest,
    observer: &dyn Observer,
) -> Result<String, Error> {
    let listing = ListTasksRequest {
        tenant: None,
        context_id: Some(request.context_id.clone()),
        status: None,
        page_size: request.page_size,
        page_token: request.page_token.clone(),
        history_length: Some(0),
        status_timestamp_after: None,
        include_artifacts: false,
        text: None,
        waiting: false,
        include_summary: false,
    };
    let query = query_of(command, &listing)?;
    let mut lines = String::new();
    let found = Index::of(env).find(&query, &mut lines).await.map_err(|error| {
        observer.observe(&Observation::ListingFailed { reason: &error.to_string() });
        not_listed()
    })?;
    let page = Page::new(&query, &listing, found);
    let asked = page
        .tasks
        .iter()
        .map(|task| delete_task(env, command, task.position.id.clone(), request.force, observer));
    let mut answers = stream::iter(asked).buffered(ANSWERS_AT_ONCE);
    let mut deletion =
        ContextDeletion { next_page_token: page.next_token(), ..ContextDeletion::default() };
    while let Some(answer) = answers.next().await {
        match answer? {
            Told::Deleted => deletion.deleted += 1,
            Told::Unfinished => deletion.unfinished += 1,
            Told::Gone => {}
        }
    }
    encode(&deletion).map_err(|_| Error::Internal { task: None })
}

/// The answer of an object.
enum Told {
    Deleted,
    /// The task has not ended, and stays.
    Unfinished,
    /// The caller no longer has this task.
    Gone,
}

async fn delete_task(
    env: &Env,
    asked: &Command<()>,
    id: TaskId,
    force: bool,
    observer: &dyn Observer,
) -> Result<Told, Error> {
    let failed = |reason: String| {
        observer.observe(&Observation::ObjectUnreachable { task: Some(&id), reason: &reason });
        Error::Unavailable(
            "not all tasks of this context can be deleted at the moment; repeat the call",
        )
    };
    let object = match Object::at(env, &TaskAddress::of_task(&id)) {
        Ok(object) => object,
        Err(AskError::Unknown) => return Ok(Told::Gone),
        Err(error) => return Err(failed(error.to_string())),
    };
    let call = TaskCall::DeleteTask(DeleteTaskRequest { tenant: None, id: id.clone(), force });
    let reply = Reply::rest(MediaType::Json);
    let command = Command::new(asked.agent.clone(), asked.caller.clone(), reply, call);
    let command = Command { trail: asked.trail.clone(), ..command };
    let answer = object.call(&command).await.map_err(|error| failed(error.to_string()))?;
    match answer.status {
        200 => Ok(Told::Deleted),
        404 => Ok(Told::Gone),
        400 => Ok(Told::Unfinished),
        status => Err(failed(format!("status {status}"))),
    }
}
