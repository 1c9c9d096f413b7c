//! How the message of a turn reaches the remote agent, once.

use std::rc::Rc;

use futures_util::{StreamExt, stream};

use super::super::{ExecutorError, StepStart, Turn};
use super::link::{LINKED, Link};
use super::messages;
use a2a::client::{Client, ClientError, Sent, TaskStream};
use a2a::model::{
    CancelTaskRequest, ContextId, GetTaskRequest, Json, ListTasksRequest, Message,
    SendMessageRequest, StreamResponse, Task, TaskId,
};

/// What a message came to.
pub(super) enum Begun {
    /// A task, which the remote agent has begun or goes on with; and what it says of it, if it was asked just now.
    Linked(Box<Link>, Client, Option<Opened>),
    /// A message: there is no task.
    Answered(Message),
    /// The client has canceled our task meanwhile; the remote one, too.
    Over,
}

/// How the remote task goes on.
pub(super) enum Opened {
    /// By these events.
    Stream(TaskStream),
    /// From here.
    Task(Box<Task>),
}

/// Sends the message of the turn, unless an earlier attempt has, and keeps what leads to the task there.
///
/// # Errors
///
/// If it cannot be sent.
pub(super) async fn begin(turn: &Turn, client: Client) -> Result<Begun, ExecutorError> {
    let nth = match turn.host.begin_step(LINKED)? {
        StepStart::New(nth) => nth,
        StepStart::Done(outcome) => {
            let link = outcome.map_err(ExecutorError)?;
            let unfit = || ExecutorError("the link to the remote task cannot be read".to_owned());
            let link = Link::read(link.value()).ok_or_else(unfit)?;
            let client = link.reach(client);
            return Ok(Begun::Linked(link.into(), client, None));
        }
    };
    let known = Link::last(turn)?;
    let client = known.as_ref().map_or_else(|| client.clone(), |link| link.reach(client.clone()));
    let reached = reach(turn, &client, known.as_ref()).await;
    let (task, context, opened) = match reached {
        Ok(Reached::Task(task, context, opened)) => (task, context, opened),
        // The step is left open: the answer is the end of the run, and stored with it.
        Ok(Reached::Message(message)) => return Ok(Begun::Answered(message)),
        Err(_) if turn.is_canceled() => return Ok(Begun::Over),
        Err(error) => {
            let reason = format!("the remote agent was not reached: {error}");
            turn.end_step(LINKED, nth, Err(reason.clone()))?;
            return Err(ExecutorError(reason));
        }
    };
    if turn.is_canceled() {
        if known.is_some() {
            return Ok(Begun::Over);
        }
        // Nobody knows of the task there but this run.
        let _ = client.cancel(CancelTaskRequest { tenant: None, id: task, metadata: None }).await;
        return Ok(Begun::Over);
    }
    let link = match known {
        Some(known) => known,
        None => linked(&client, task, context, turn).await.map_err(failed)?,
    };
    turn.end_step(LINKED, nth, Ok(Json::from(&link.stored())))?;
    Ok(Begun::Linked(link.into(), client, opened))
}

/// Where a message has got to.
enum Reached {
    Task(TaskId, ContextId, Option<Opened>),
    Message(Message),
}

async fn reach(turn: &Turn, client: &Client, known: Option<&Link>) -> Result<Reached, ClientError> {
    // The attempt before may have sent it, and died before it knew more.
    if turn.resumes
        && let Some(task) = found(turn, client, known).await
    {
        return Ok(task_as_it_is(task));
    }
    let message = messages::with_credentials(turn).await;
    let message = message.map_err(|error| ClientError::Credentials(error.0))?;
    let request = messages::request(turn, message, turn.number, known);
    match sent(client, request).await {
        // It has ended, or is not there any more: its end, if there is one, is ours.
        Err(ClientError::Remote(error)) => match known {
            Some(link) => match ended(client, link).await {
                Some(task) => Ok(task_as_it_is(task)),
                None => Err(ClientError::Remote(error)),
            },
            None => Err(ClientError::Remote(error)),
        },
        // The message may have arrived, and its answer been lost.
        Err(error) if is_doubtful(&error) => match found(turn, client, known).await {
            Some(task) => Ok(task_as_it_is(task)),
            None => Err(error),
        },
        reached => reached,
    }
}

/// A task that goes on from what it is now.
fn task_as_it_is(task: Task) -> Reached {
    Reached::Task(task.id.clone(), task.context_id.clone(), Some(Opened::Task(task.into())))
}

/// Whether a message may have arrived though sending it failed.
fn is_doubtful(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::Http(_)
            | ClientError::Timeout
            | ClientError::Ended
            | ClientError::Unexpected(_)
    )
}

/// Sends a message by a stream, if the remote agent streams.
async fn sent(client: &Client, request: SendMessageRequest) -> Result<Reached, ClientError> {
    if client.connect().await?.streams {
        let mut events = client.send_streaming(request.clone());
        return match events.next().await {
            Some(Ok(first)) => {
                let (id, context) = match &first.event {
                    StreamResponse::Message(message) => {
                        return Ok(Reached::Message(message.clone()));
                    }
                    StreamResponse::Task(task) => (&task.id, &task.context_id),
                    StreamResponse::StatusUpdate(event) => (&event.task_id, &event.context_id),
                    StreamResponse::ArtifactUpdate(event) => (&event.task_id, &event.context_id),
                };
                let (id, context) = (id.clone(), context.clone());
                let events = stream::iter([Ok(first)]).chain(events).boxed_local();
                Ok(Reached::Task(id, context, Some(Opened::Stream(events))))
            }
            Some(Err(error)) => Err(error),
            None => Err(ClientError::Ended),
        };
    }
    Ok(match client.send(request).await? {
        Sent::Message(message) => Reached::Message(message),
        Sent::Task(task) => task_as_it_is(task),
    })
}

/// The task that has the message of the turn already.
pub(super) async fn found(turn: &Turn, client: &Client, known: Option<&Link>) -> Option<Task> {
    let id = messages::id_of(turn, turn.number);
    let has_it = |task: &Task| task.history.iter().any(|message| message.message_id == id);
    let get = async |id: &TaskId| {
        let request = GetTaskRequest { tenant: None, id: id.clone(), history_length: None };
        client.get(request).await.ok()
    };
    if let Some(link) = known {
        // A task that was asked something and goes on has got an answer.
        let task = get(&link.task).await?;
        return (has_it(&task) || !task.status.state.is_interrupted()).then_some(task);
    }
    let request = ListTasksRequest {
        tenant: None,
        context_id: Some(messages::context_of(turn)),
        status: None,
        page_size: MOST_LISTED,
        page_token: None,
        history_length: None,
        status_timestamp_after: None,
        include_artifacts: true,
    };
    for task in client.list(request).await.ok()?.tasks {
        if has_it(&task) {
            return Some(task);
        }
        if task.history.is_empty()
            && let Some(task) = get(&task.id).await.filter(has_it)
        {
            return Some(task);
        }
    }
    None
}

/// The task of a link, if it takes no more messages because it has ended.
async fn ended(client: &Client, link: &Link) -> Option<Task> {
    let request = GetTaskRequest { tenant: None, id: link.task.clone(), history_length: None };
    client.get(request).await.ok().filter(|task| task.status.state.is_terminal())
}

async fn linked(
    client: &Client,
    task: TaskId,
    context: ContextId,
    turn: &Turn,
) -> Result<Link, ClientError> {
    let connection = client.connect().await?;
    let has_webhooks = client.discover().await.is_some_and(|card| card.sends_webhooks);
    // Not every server says in each event which conversation it belongs to.
    let is_named = !context.as_str().is_empty();
    let context = if is_named { context } else { messages::context_of(turn) };
    Ok(Link { task, context, has_webhooks, connection: Rc::clone(&connection) })
}

fn failed(error: ClientError) -> ExecutorError {
    ExecutorError(format!("the remote agent was not reached: {error}"))
}

/// How many tasks of a conversation are looked at for the one that has a message.
const MOST_LISTED: u8 = 50;
