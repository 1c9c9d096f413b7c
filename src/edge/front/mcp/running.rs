//! A running call of an agent. The call follows its task until the task ends or asks a question, or until the waiting
//! time is over.

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use serde_json::Value;

use super::address::Place;
use super::outcome::{failed, refused, task_json};
use a2a::client::{Client, TaskEvent, TaskStream, apply};
use a2a::model::{
    Message, SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, UnixMillis,
};
use mcp::agents::{Waiting, answered, progress_text, result_of};
use mcp::server::{Reply, Request};

/// A running call.
pub(super) struct Running {
    client: Client,
    events: TaskStream,
    task: Option<Task>,
    /// True if the call continues a task with a message, so that the first event may still show the state before the message.
    is_answer: bool,
    /// The answer for the client, as soon as it is known.
    answer: Option<Value>,
    place: Place,
    reply: Reply,
    progress: Option<Progress>,
    /// The end of the waiting time.
    end: UnixMillis,
}

/// The next output of a call.
pub(super) enum Said {
    /// A notification of progress.
    Progress(Value),
    /// The answer, the last output.
    Answer(Value),
}

/// The state of progress notifications.
struct Progress {
    token: Value,
    /// The number of notifications so far.
    told: u64,
    /// The time of the last notification about a growing artifact.
    grown: Option<UnixMillis>,
}

impl Running {
    /// Sends a message to an agent.
    pub(super) fn send(
        client: Client,
        message: Message,
        place: Place,
        request: &Request,
        wait_ms: u64,
    ) -> Self {
        let is_answer = message.task_id.is_some();
        let configuration = SendMessageConfiguration::default();
        let sent = SendMessageRequest { tenant: None, message, configuration, metadata: None };
        let events = client.send_streaming(sent);
        Self { is_answer, ..Self::new(client, events, None, place, request, wait_ms) }
    }

    /// Follows a task that is not finished.
    pub(super) fn resume(
        client: Client,
        task: Task,
        place: Place,
        request: &Request,
        wait_ms: u64,
    ) -> Self {
        let events = client.resume(task.clone(), None);
        Self::new(client, events, Some(task), place, request, wait_ms)
    }

    fn new(
        client: Client,
        events: TaskStream,
        task: Option<Task>,
        place: Place,
        request: &Request,
        wait_ms: u64,
    ) -> Self {
        let reply = request.reply.clone();
        let token = request.meta.progress_token.clone();
        let progress = token.map(|token| Progress { token, told: 0, grown: None });
        // If the client supports tasks, a call that takes longer than [`TASK_AFTER_MS`] continues as a task.
        let wait_ms = if reply.capabilities().tasks { wait_ms.min(TASK_AFTER_MS) } else { wait_ms };
        let end = client.ports().clock.now().after(wait_ms);
        let answer = task.as_ref().filter(|task| task.status.state.is_terminal());
        let answer = answer.map(|task| message_of(&reply, task, &place));
        Self { client, events, task, is_answer: false, answer, place, reply, progress, end }
    }

    /// The next output of the call. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Said {
        let clock = self.client.ports().clock.clone();
        loop {
            if let Some(answer) = &self.answer {
                return Said::Answer(answer.clone());
            }
            let left_ms = self.end.millis_since(clock.now());
            let event = match select(self.events.next(), clock.sleep(left_ms)).await {
                Either::Left((event, _)) => event,
                Either::Right(_) => None,
            };
            let told = match event {
                Some(Ok(event)) => self.hear(&event),
                Some(Err(error)) => {
                    self.answer = Some(self.reply.called(failed(&error)));
                    None
                }
                None => {
                    self.answer = Some(self.as_it_is());
                    None
                }
            };
            if let Some(told) = told {
                return Said::Progress(told);
            }
        }
    }

    /// The answer, without notifications of progress.
    pub(super) async fn finish(mut self) -> Value {
        loop {
            if let Said::Answer(answer) = self.next().await {
                return answer;
            }
        }
    }

    /// True if the answer is known.
    pub(super) fn is_over(&self) -> bool {
        self.answer.is_some()
    }

    /// Cancels the task, because the client has disconnected. If the task is not known yet, waits for its first event.
    pub(super) async fn cancel(mut self) {
        let clock = self.client.ports().clock.clone();
        let end = clock.now().after(CANCEL_MS);
        if self.task.is_none()
            && let Either::Left((Some(Ok(event)), _)) =
                select(self.events.next(), clock.sleep(CANCEL_MS)).await
        {
            apply(&mut self.task, &event.event);
        }
        if let Some(task) = self.task.filter(|task| !task.status.state.is_terminal()) {
            // The result is ignored: the task may have just ended.
            let _ = self.client.cancel_until(task.id, end).await;
        }
    }

    /// Handles an event; returns the notification for it, if any.
    fn hear(&mut self, TaskEvent { event, .. }: &TaskEvent) -> Option<Value> {
        if let (StreamResponse::Message(message), None) = (event, &self.task) {
            self.answer = Some(self.reply.called(answered(message, &self.place.address())));
            return None;
        }
        apply(&mut self.task, event);
        let state = self.task.as_ref()?.status.state;
        let is_news = !(self.is_answer && matches!(event, StreamResponse::Task(_)));
        if state.is_terminal() || (state.is_interrupted() && is_news) {
            self.answer = Some(self.as_it_is());
            return None;
        }
        let now = self.client.ports().clock.now();
        self.progress.as_mut()?.tell(&self.reply, event, now)
    }

    /// The answer from the current task.
    fn as_it_is(&self) -> Value {
        match &self.task {
            Some(task) => message_of(&self.reply, task, &self.place),
            None => self.reply.called(refused("the agent has not answered in time")),
        }
    }
}

impl Progress {
    fn tell(&mut self, reply: &Reply, event: &StreamResponse, now: UnixMillis) -> Option<Value> {
        if let StreamResponse::ArtifactUpdate(_) = event {
            let is_soon = self.grown.is_some_and(|grown| now.millis_since(grown) < GROWN_MS);
            if is_soon {
                return None;
            }
            self.grown = Some(now);
        }
        let text = progress_text(event)?;
        self.told += 1;
        Some(reply.progress(&self.token, self.told, &text))
    }
}

/// The message that answers a call with the current task: a question, a task that is not finished, or a result.
pub(super) fn message_of(reply: &Reply, task: &Task, place: &Place) -> Value {
    let capabilities = reply.capabilities();
    if let Some(waiting) = Waiting::of(task)
        && let Some(question) = waiting.question.as_ref().filter(|it| capabilities.can_show(it))
    {
        return reply.asking(std::slice::from_ref(question), &waiting.state());
    }
    let state = task.status.state;
    if capabilities.tasks && !state.is_terminal() && !state.is_interrupted() {
        return reply.task(task_json(task, place, capabilities));
    }
    reply.called(result_of(task, &place.slug, &place.address_of(&task.id)))
}

/// The time after which a call continues as a task of the tasks extension, in milliseconds.
const TASK_AFTER_MS: u64 = 1_000;

/// The shortest time between two notifications about growing artifacts, in milliseconds.
const GROWN_MS: u64 = 1_000;

/// The time limit for canceling a task after its client has disconnected, in milliseconds.
const CANCEL_MS: u64 = 10_000;
