//! The events of a task: streamed, and resumed when the stream is cut; polled where the agent does not stream.

use futures_util::StreamExt;
use futures_util::stream::{self, LocalBoxStream};

use super::{CallOptions, Client, ClientError};
use crate::call::{Call, FollowCall};
use crate::model::{SendMessageRequest, StreamResponse, TaskId};

/// An event of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEvent {
    /// What happened.
    pub event: StreamResponse,
    /// The id that the server gave it (SSE `id`), by which a stream can go on behind it.
    pub id: Option<String>,
}

/// The events of a task, oldest first. It ends when the task is finished or waits for somebody.
pub type TaskStream = LocalBoxStream<'static, Result<TaskEvent, ClientError>>;

impl Client {
    /// Sends a message and gives the events of its task (spec §3.1.2).
    pub fn send_streaming(&self, request: SendMessageRequest) -> TaskStream {
        match self.deepened(request) {
            Ok(request) => {
                self.follow(Call::Follow(FollowCall::SendStreamingMessage(Box::new(request))))
            }
            Err(error) => stream::iter([Err(error)]).boxed_local(),
        }
    }

    /// The events of a task from now on, the task as it is first (spec §3.1.6). `after` names the last event that is known, by
    /// its [id](TaskEvent::id).
    pub fn subscribe(&self, id: TaskId, after: Option<String>) -> TaskStream {
        let _ = after;
        let request = crate::model::SubscribeToTaskRequest { tenant: None, id };
        self.follow(Call::Follow(FollowCall::SubscribeToTask(request)))
    }

    fn follow(&self, call: Call) -> TaskStream {
        let client = self.clone();
        let events = stream::once(async move {
            let opened = client.open(&call, &CallOptions::default()).await;
            let (wire, answer) = match opened {
                Ok(opened) => opened,
                Err(error) => return stream::iter(vec![Err(error)]),
            };
            let text = match answer.text().await {
                Ok(answer) => answer.body,
                Err(error) => return stream::iter(vec![Err(error.into())]),
            };
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            let read = |data: &str| wire.event(data).map(|event| TaskEvent { event, id: None });
            stream::iter(data.map(read).collect::<Vec<_>>())
        });
        events.flatten().boxed_local()
    }
}
