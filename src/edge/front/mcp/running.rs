//! A call of an agent that is under way: its task is followed to its end, to a question, or until the client has waited long enough.

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

/// A call that is under way.
pub(super) struct Running {
    client: Client,
    events: TaskStream,
    task: Option<Task>,
    /// Whether a message has gone on with the task, so that the first look at it may be from before the message.
    is_answer: bool,
    /// What the client has to get as the answer, once it is known.
    answer: Option<Value>,
    place: Place,
    reply: Reply,
    progress: Option<Progress>,
    /// Until when the client waits.
    end: UnixMillis,
}

/// What a call brings.
pub(super) enum Said {
    /// It gets on.
    Progress(Value),
    /// Its answer, the last thing that it brings.
    Answer(Value),
}

/// How progress is told.
struct Progress {
    token: Value,
    /// How often it was.
    told: u64,
    /// When it was last told that an artifact grows.
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

    /// Follows a task that goes on.
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
        // What takes longer goes on as a task, where the client knows such a thing.
        let wait_ms = if reply.capabilities().tasks { wait_ms.min(TASK_AFTER_MS) } else { wait_ms };
        let end = client.ports().clock.now().after(wait_ms);
        let answer = task.as_ref().filter(|task| task.status.state.is_terminal());
        let answer = answer.map(|task| message_of(&reply, task, &place));
        Self { client, events, task, is_answer: false, answer, place, reply, progress, end }
    }

    /// The next thing that the call brings. Nothing is lost when what waits for it is dropped.
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

    /// The answer, without progress.
    pub(super) async fn finish(mut self) -> Value {
        loop {
            if let Said::Answer(answer) = self.next().await {
                return answer;
            }
        }
    }

    /// Whether the answer is known.
    pub(super) fn is_over(&self) -> bool {
        self.answer.is_some()
    }

    /// Cancels the task: the client has left. A task of which nothing is known yet is waited for, so that it can be canceled.
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
            // It may have ended just now.
            let _ = self.client.cancel_until(task.id, end).await;
        }
    }

    /// Takes an event; gives the notification for it, if there is to be one.
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

    /// The answer, as the task is now.
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

/// The message that answers a call with a task as it is: a question, a task that goes on, or a result.
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

/// After how long a call goes on as a task of the tasks extension, in milliseconds.
const TASK_AFTER_MS: u64 = 1_000;

/// How often it is told at most that artifacts grow, in milliseconds.
const GROWN_MS: u64 = 1_000;

/// How long it is tried to cancel a task whose client has left, in milliseconds.
const CANCEL_MS: u64 = 10_000;
