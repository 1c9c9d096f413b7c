//! Sends a message to another agent exactly once.

use std::rc::Rc;

use futures_util::future::{Either, LocalBoxFuture, select};
use futures_util::{StreamExt, stream};

use super::super::{ExecutorError, StepStart, Turn};
use super::link::Link;
use a2a::client::{Client, ClientError, Sent, TaskStream};
use a2a::model::{
    CancelTaskRequest, ContextId, GetTaskRequest, ListTasksRequest, Message, SendMessageRequest,
    StreamResponse, Task, TaskId, UnixMillis,
};

/// A message on its way to another agent. A step stores the link to the other agent's task as soon as the task is known. An attempt
/// without a stored link searches for the message before it sends it again.
pub(in crate::executor) struct Sending<'a> {
    pub(in crate::executor) turn: &'a Turn,
    /// The name of the step.
    pub(in crate::executor) step: &'a str,
    /// The name of the other agent in error messages.
    pub(in crate::executor) agent: &'a str,
    /// The id with which the message is sent. Each repetition has the same id, so that a server which remembers message ids does
    /// not begin a second task.
    pub(in crate::executor) message_id: String,
    /// The conversation at the other agent, if the message begins a task.
    pub(in crate::executor) context: ContextId,
    /// The task that the message continues, if there is one.
    pub(in crate::executor) known: Option<Link>,
    /// True if an earlier attempt may have sent the message.
    pub(in crate::executor) is_doubtful: bool,
    /// The time at which the other agent must have answered, including retries.
    pub(in crate::executor) deadline: UnixMillis,
}

/// The result that an earlier attempt has stored for a message.
pub(in crate::executor) enum Kept {
    /// The link to the task.
    Link(Box<Link>),
    /// The message could not be sent, for this reason.
    Failed(String),
    /// There is no result yet. The result must be stored in the step with this number.
    Nothing(u32),
}

/// The result of sending a message.
pub(in crate::executor) enum Begun {
    /// A task that the other agent has begun or continues. `Opened` is present if the message was sent by this attempt.
    Linked(Box<Link>, Client, Option<Opened>),
    /// A message as the answer: there is no task.
    Answered(Message),
    /// The message could not be sent, for this reason.
    Failed(String),
    /// No answer arrived within this number of milliseconds. A task that the message may have begun must be searched for and
    /// canceled.
    TimedOut(u64),
    /// The client has canceled our task meanwhile; a task that the message began was canceled, too.
    Over,
}

/// The source of the other agent's further events.
pub(in crate::executor) enum Opened {
    /// A stream of events.
    Stream(TaskStream),
    /// Polling. The current task is included.
    Task(Box<Task>),
}

/// The request that sends a message, built only before it is sent.
pub(in crate::executor) type Made<'a> =
    LocalBoxFuture<'a, Result<SendMessageRequest, ExecutorError>>;

/// The result that the step of this name has stored.
///
/// # Errors
///
/// If the turn refuses the step, or the stored value is not a link.
pub(in crate::executor) fn kept(turn: &Turn, step: &str) -> Result<Kept, ExecutorError> {
    Ok(match turn.begin_step(step)? {
        StepStart::New(nth) => Kept::Nothing(nth),
        StepStart::Done(Err(reason)) => Kept::Failed(reason),
        StepStart::Done(Ok(link)) => Kept::Link(link),
    })
}

impl Sending<'_> {
    /// Sends the message, unless an earlier attempt has sent it, and stores the link to the task in step `nth`. If a task is `known`,
    /// the client must already point to its interface.
    ///
    /// # Errors
    ///
    /// If the link cannot be stored.
    pub(in crate::executor) async fn begin(
        self,
        nth: u32,
        client: Client,
        request: Made<'_>,
    ) -> Result<Begun, ExecutorError> {
        let (turn, total_ms) = (self.turn, self.left_ms());
        let reaching = Box::pin(self.reach(&client, request));
        let reached = match select(reaching, turn.run_outside.sleep(total_ms)).await {
            Either::Left((reached, _)) => reached,
            Either::Right(_) => Err(ClientError::Timeout),
        };
        let (task, context, opened) = match reached {
            Ok(Reached::Task(task, context, opened)) => (task, context, opened),
            // The step is left open: the message is the result of the call, and is stored with that result.
            Ok(Reached::Message(message)) => return Ok(Begun::Answered(message)),
            Err(_) if turn.is_canceled() => return Ok(Begun::Over),
            // The step is left open here, too.
            Err(ClientError::Timeout) => return Ok(Begun::TimedOut(total_ms)),
            Err(error) => {
                let reason = format!("{} was not reached: {error}", self.agent);
                turn.end_step::<Link>(self.step, nth, Err(reason.clone()))?;
                return Ok(Begun::Failed(reason));
            }
        };
        if turn.is_canceled() {
            if self.known.is_none() {
                // No link was stored, so only this run can cancel the task.
                let request = CancelTaskRequest { tenant: None, id: task, metadata: None };
                let _ = client.cancel(request).await;
            }
            return Ok(Begun::Over);
        }
        let link = match self.known.clone() {
            Some(known) => known,
            None => match self.linked(&client, task, context).await {
                Ok(link) => link,
                Err(error) => {
                    return Ok(Begun::Failed(format!("{} was not reached: {error}", self.agent)));
                }
            },
        };
        turn.end_step(self.step, nth, Ok(&link))?;
        Ok(Begun::Linked(link.into(), client, opened))
    }

    fn left_ms(&self) -> u64 {
        self.deadline.millis_since(self.turn.now())
    }

    async fn reach(&self, client: &Client, request: Made<'_>) -> Result<Reached, ClientError> {
        let known = self.known.as_ref();
        // The earlier attempt may have sent the message and crashed before it stored the link.
        if self.is_doubtful
            && let Some(task) = self.found(client).await
        {
            return Ok(task_as_it_is(task));
        }
        let request = request.await.map_err(|error| ClientError::Credentials(error.0))?;
        match sent(client, request).await {
            // The known task has ended or does not exist any more. If it has ended, this task is the answer.
            Err(ClientError::Remote(error)) => match known {
                Some(link) => match ended(client, link).await {
                    Some(task) => Ok(task_as_it_is(task)),
                    None => Err(ClientError::Remote(error)),
                },
                None => Err(ClientError::Remote(error)),
            },
            // The message may have arrived although its answer was lost.
            Err(error) if is_doubtful(&error) => match self.found(client).await {
                Some(task) => Ok(task_as_it_is(task)),
                None => Err(error),
            },
            reached => reached,
        }
    }

    /// The task that already contains the message.
    pub(in crate::executor) async fn found(&self, client: &Client) -> Option<Task> {
        let has_it =
            |task: &Task| task.history.iter().any(|message| message.message_id == self.message_id);
        let get = async |id: &TaskId| {
            let request = GetTaskRequest { tenant: None, id: id.clone(), history_length: None };
            client.get(request).await.ok()
        };
        if let Some(link) = &self.known {
            // If the task waited for input and does not wait any more, it has received the answer.
            let task = get(&link.task).await?;
            return (has_it(&task) || !task.status.state.is_interrupted()).then_some(task);
        }
        let request = ListTasksRequest {
            tenant: None,
            context_id: Some(self.context.clone()),
            status: None,
            page_size: MOST_LISTED,
            page_token: None,
            history_length: None,
            status_timestamp_after: None,
            include_artifacts: true,
            text: None,
            waiting: false,
            include_summary: false,
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

    async fn linked(
        &self,
        client: &Client,
        task: TaskId,
        context: Option<ContextId>,
    ) -> Result<Link, ClientError> {
        let connection = client.connect().await?;
        let card =
            match select(Box::pin(client.discover()), self.turn.run_outside.sleep(self.left_ms()))
                .await
            {
                Either::Left((card, _)) => card,
                Either::Right(_) => None,
            };
        let has_webhooks = card.is_some_and(|card| card.sends_webhooks);
        // Some servers leave the context id out of their events.
        let context = context.or_else(|| Some(self.context.clone()));
        let agent = self.turn.slug_here(client);
        Ok(Link { task, context, has_webhooks, connection: Rc::clone(&connection), agent })
    }
}

/// The other agent's first answer to a message.
enum Reached {
    Task(TaskId, Option<ContextId>, Option<Opened>),
    Message(Message),
}

/// The answer for a task that was read as a whole, without a stream.
fn task_as_it_is(task: Task) -> Reached {
    Reached::Task(task.id.clone(), task.context_id.clone(), Some(Opened::Task(task.into())))
}

/// True if a message may have arrived although sending it failed.
fn is_doubtful(error: &ClientError) -> bool {
    matches!(error, ClientError::Http(_) | ClientError::Ended | ClientError::Unexpected(_))
}

/// Sends a message, by a stream if the remote agent supports streaming.
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

/// The task of a link, if the task has ended and so accepts no more messages.
async fn ended(client: &Client, link: &Link) -> Option<Task> {
    let request = GetTaskRequest { tenant: None, id: link.task.clone(), history_length: None };
    client.get(request).await.ok().filter(|task| task.status.state.is_terminal())
}

/// The number of tasks of a conversation that are searched for a message.
const MOST_LISTED: u8 = 50;
