//! The events of a task: streamed and, after an interruption, resumed; polled if the agent does not stream.

use futures_util::StreamExt;
use futures_util::stream::{self, LocalBoxStream};

use super::following::{Following, Start};
use super::{CallOptions, Client, ClientError, TaskEvent};
use crate::model::{SendMessageRequest, SubscribeToTaskRequest, Task, TaskId};

/// The events of a task, oldest first, for streams and for polling. [Applied](super::apply) one after the other, they result
/// in the task.
///
/// - At most one event is a whole task, and it is the first one; for a later snapshot of the task, the stream emits the
///   [changes](super::changes) since the known version. Events of other tasks and repeated events are left out.
/// - If the agent returns a message in place of a task, the message is the only event.
/// - If the connection breaks, or the server ends the stream too early, the client reconnects: if the server numbers its
///   events, it continues after the last event; otherwise it fetches the task and emits the changes; if both fail, it polls.
///   If polling finds no change within [`timeout_ms`](super::Settings::timeout_ms), the error is [`ClientError::Ended`]. If
///   a server without event numbers continues without sending the task first, the client fetches the task after each event
///   and emits the changes.
/// - The event with the final state is the last one. Events that the server sends after it are emitted before it.
/// - The stream of a send also ends when the agent asks for input, when the server ends it while the task waits for
///   credentials, and, if the task is polled, when the task is interrupted. A subscription ends with the task, or when the
///   server ends the stream while the task is interrupted.
/// - Events have at most 4 MiB and 100,000 JSON values. The task that they describe has at most 32 MiB and 1,000,000 values.
///   If nothing arrives, not even a comment, for [`request_timeout_ms`](super::Settings::request_timeout_ms), the stream
///   counts as broken.
///
/// An error is the last item. Dropping the stream does not cancel the task.
pub type TaskStream = LocalBoxStream<'static, Result<TaskEvent, ClientError>>;

impl Client {
    /// Sends a message and returns the events of its task (spec §3.1.2). If the agent does not stream, the client polls.
    pub fn send_streaming(&self, request: SendMessageRequest) -> TaskStream {
        self.send_streaming_with(request, CallOptions::default())
    }

    /// As [`send_streaming`](Self::send_streaming), with an idempotency key or a deadline.
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

    /// The events of a task from now on, preceded by the present task (spec §3.1.6). `after` is the [id](TaskEvent::id) of
    /// the last known event: a server that numbers its events then sends only the later events, without the task. For a task
    /// that has ended, the only event is the task.
    pub fn subscribe(&self, id: TaskId, after: Option<String>) -> TaskStream {
        let request = SubscribeToTaskRequest { tenant: None, id };
        let options = CallOptions { last_event_id: after, ..CallOptions::default() };
        self.follow(Start::Subscribe(request), None, options)
    }

    /// The changes of a task since `known`, its last known version: first the changes so far, then the further events.
    /// `after` as for [`subscribe`](Self::subscribe).
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
