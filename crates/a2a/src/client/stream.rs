//! The events of a task: streamed, and resumed when the stream is cut; polled where the agent does not stream.

use futures_util::StreamExt;
use futures_util::stream::{self, LocalBoxStream};

use super::following::{Following, Start};
use super::{CallOptions, Client, ClientError, TaskEvent};
use crate::model::{SendMessageRequest, SubscribeToTaskRequest, Task, TaskId};

/// The events of a task, oldest first, whether the agent streams or is polled. [Applied](super::apply) one by one they give the
/// task.
///
/// - At most one event is a whole task, and it is the first one; a later look at the task is told as the
///   [changes](super::changes) that it shows. Events of other tasks and repeated events are left out.
/// - A message instead of a task is the only event.
/// - Where the connection breaks, or the server ends the stream too early, the stream goes on by itself: behind the last event
///   where the server numbers them, else with what a look at the task shows to be missing, else by polling. What
///   polling cannot bring any more either within [`timeout_ms`](super::Settings::timeout_ms) is [`ClientError::Ended`]. Where a
///   server without numbers goes on and does not give the task first, each thing that it says leads to a look, whose changes are told.
/// - The event with the final state is the last one: what a server says after it comes before it.
/// - The stream of a send ends also when the agent asks for input, and when the server ends it while the task waits for credentials;
///   one that is polled, when the task waits for anybody. A subscription ends with the task, or when the server ends it while the
///   task waits for somebody.
/// - Events have at most 4 MiB and 100,000 JSON values. What is known of a task by them has at most 32 MiB and 1,000,000 values. While nothing comes, not even a comment, for
///   [`request_timeout_ms`](super::Settings::request_timeout_ms), the stream counts as cut.
///
/// An error is the last item. Dropping the stream leaves the task alone.
pub type TaskStream = LocalBoxStream<'static, Result<TaskEvent, ClientError>>;

impl Client {
    /// Sends a message and gives the events of its task (spec §3.1.2). An agent that does not stream is polled.
    pub fn send_streaming(&self, request: SendMessageRequest) -> TaskStream {
        self.send_streaming_with(request, CallOptions::default())
    }

    /// As [`send_streaming`](Self::send_streaming), with an idempotency key or a deadline of its own.
    pub fn send_streaming_with(
        &self,
        request: SendMessageRequest,
        options: CallOptions,
    ) -> TaskStream {
        match self.deepened(request) {
            Ok(request) => self.follow(Start::Send(Box::new(request)), None, options),
            Err(error) => stream::iter([Err(error)]).boxed_local(),
        }
    }

    /// The events of a task from now on, the task as it is first (spec §3.1.6). `after` names the last event that is known, by
    /// its [id](TaskEvent::id): a server that numbers its events then gives those behind it, without the task. A task that has ended
    /// is given as it is.
    pub fn subscribe(&self, id: TaskId, after: Option<String>) -> TaskStream {
        let request = SubscribeToTaskRequest { tenant: None, id };
        let options = CallOptions { last_event_id: after, ..CallOptions::default() };
        self.follow(Start::Subscribe(request), None, options)
    }

    /// The events that a task brings besides what is known of it, `known` as it was last seen: what came meanwhile first. `after` as
    /// for [`subscribe`](Self::subscribe).
    pub fn resume(&self, known: Task, after: Option<String>) -> TaskStream {
        let request = SubscribeToTaskRequest { tenant: None, id: known.id.clone() };
        let options = CallOptions { last_event_id: after, ..CallOptions::default() };
        self.follow(Start::Subscribe(request), Some(known), options)
    }

    fn follow(&self, start: Start, known: Option<Task>, options: CallOptions) -> TaskStream {
        let following = Box::new(Following::new(self.clone(), start, known, options));
        stream::unfold(following, |mut following| async move {
            let next = following.next().await?;
            Some((next, following))
        })
        .boxed_local()
    }
}
