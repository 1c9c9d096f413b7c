//! Follows a task of the remote agent: by its event stream while events arrive, by webhooks and polls while the task is
//! silent.

use futures_util::StreamExt;
use futures_util::future::{LocalBoxFuture, select_all};

use super::super::{
    Callback, CallbackTerms, Events, ExecutorError, LONGEST_WAIT_MS, StepStart, Turn, Wait,
};
use super::link::Link;
use super::mirror::{Mirror, OWN_WORDS};
use super::send::Opened;
use super::{Terms, messages, pace};
use a2a::client::{Client, ClientError, Sent, TaskEvent, TaskStream};
use a2a::model::{
    EventFilter, GetTaskRequest, Message, Part, StreamResponse, TaskPushNotificationConfig,
};

/// A run that follows the task of a remote agent.
pub(super) struct Front<'a> {
    turn: &'a Turn,
    events: &'a Events,
    client: Client,
    link: Link,
    terms: Terms,
    mirror: Mirror,
    /// The number of messages that have arrived after the message of the turn.
    messages: usize,
    /// The callback URL to which the remote agent posts events, if it accepted one.
    callback: Option<Callback>,
}

/// The result of reading the remote task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// The remote task has ended or waits for input, and ours now has the same state; or our task was canceled.
    Over,
    /// Something has changed.
    Change,
    /// Nothing has changed.
    Silence,
}

/// The first event that a run in memory receives.
enum Heard {
    Event(Option<Result<TaskEvent, ClientError>>),
    Message(Message),
    Silence,
    Canceled,
}

impl<'a> Front<'a> {
    pub(super) fn new(
        turn: &'a Turn,
        events: &'a Events,
        client: Client,
        link: Link,
        terms: Terms,
    ) -> Self {
        let mirror = Mirror::of(turn.task().as_ref());
        Self { turn, events, client, link, terms, mirror, messages: 0, callback: None }
    }

    /// Follows the task until it ends or waits for input. `parked_ms` is the time for which the run was parked before
    /// this run resumed it; `None` if the run was not parked.
    ///
    /// # Errors
    ///
    /// If the remote agent does not have the task any more, or our task refuses an event.
    pub(super) async fn follow(
        mut self,
        opened: Option<Opened>,
        mut parked_ms: Option<u64>,
    ) -> Result<(), ExecutorError> {
        if parked_ms.is_some() {
            // The run that was parked has registered the webhook already: this call only reads the stored result.
            self.ask_for_webhooks().await;
        }
        let mut seen = match opened {
            Some(Opened::Stream(events)) => self.listen(events).await?,
            Some(Opened::Task(task)) => self.take(StreamResponse::Task(*task))?,
            None => self.look().await?,
        };
        seen = self.pass_on_waiting().await?.or(seen);
        loop {
            if seen == Seen::Change {
                parked_ms = None;
            }
            // A run that was woken to poll, and finds no change, is parked again.
            if seen != Seen::Over && parked_ms.is_none() && self.may_stay() {
                seen = self.stay().await?;
            }
            if seen != Seen::Over && self.ask_for_webhooks().await {
                // Events from before the registration are not posted, so the task is read once.
                seen = self.look().await?;
            }
            if seen == Seen::Over {
                return Ok(());
            }
            let pause_ms = pace::parked(parked_ms, self.callback.is_some());
            parked_ms = Some(pause_ms);
            self.park(pace::spread(pause_ms, self.turn.run_outside.random())).await?;
            seen = self.look().await?;
            seen = self.pass_on_waiting().await?.or(seen);
        }
    }

    /// True if the run may stay in memory and listen. Half of the run's time is reserved for polls after the run was
    /// parked.
    fn may_stay(&self) -> bool {
        self.callback.is_none() && self.turn.time_left_ms() > self.turn.timeout_ms / 2
    }

    async fn stay(&mut self) -> Result<Seen, ExecutorError> {
        if self.link.connection.streams {
            let events = self.client.subscribe(self.link.task.clone(), None);
            return self.listen(events).await;
        }
        let mut silent_ms = 0;
        let mut pause_ms = None;
        while silent_ms < self.terms.silence_ms && self.may_stay() {
            let next_ms = pace::in_memory(self.client.settings().poll_interval_ms, pause_ms);
            let seen = match self.hear(None, next_ms).await {
                Heard::Canceled => Seen::Over,
                Heard::Message(message) => self.pass_on(message).await?,
                Heard::Event(_) | Heard::Silence => self.look().await?,
            };
            (silent_ms, pause_ms) = match seen {
                Seen::Over => return Ok(Seen::Over),
                Seen::Change => (0, None),
                Seen::Silence => (silent_ms + next_ms, Some(next_ms)),
            };
        }
        Ok(Seen::Silence)
    }

    /// Applies events until the task is over, the stream ends, or no event arrives for `silence_ms`.
    async fn listen(&mut self, mut events: TaskStream) -> Result<Seen, ExecutorError> {
        while self.may_stay() {
            let seen = match self.hear(Some(&mut events), self.terms.silence_ms).await {
                Heard::Event(Some(Ok(event))) => self.take(event.event)?,
                // The client has already retried the stream, so the run makes no further attempt.
                Heard::Event(Some(Err(_)) | None) => {
                    return Ok(self.look().await?.or(Seen::Silence));
                }
                Heard::Message(message) => self.pass_on(message).await?,
                Heard::Silence => break,
                Heard::Canceled => Seen::Over,
            };
            if seen == Seen::Over {
                return Ok(Seen::Over);
            }
        }
        Ok(Seen::Silence)
    }

    async fn hear(&self, events: Option<&mut TaskStream>, silence_ms: u64) -> Heard {
        let mut first: Vec<LocalBoxFuture<'_, Heard>> = vec![
            Box::pin(async {
                self.turn.canceled().await;
                Heard::Canceled
            }),
            Box::pin(async { Heard::Message(self.turn.next_message().await) }),
        ];
        if let Some(events) = events {
            first.push(Box::pin(async { Heard::Event(events.next().await) }));
        }
        let silence = self.turn.run_outside.sleep(silence_ms);
        first.push(Box::pin(async {
            silence.await;
            Heard::Silence
        }));
        select_all(first).await.0
    }

    /// Reads the current state of the remote task.
    async fn look(&mut self) -> Result<Seen, ExecutorError> {
        let (id, history_length) = (self.link.task.clone(), None);
        match self.client.get(GetTaskRequest { tenant: None, id, history_length }).await {
            Ok(task) => self.take(StreamResponse::Task(task)),
            Err(ClientError::Remote(error)) if error.code == TASK_NOT_FOUND => {
                let reason = "the remote agent does not know the task any more";
                Err(ExecutorError(reason.to_owned()))
            }
            // Polling continues, since the remote agent may be reachable again later. The client can cancel the task.
            Err(error) => {
                if self.mirror.lost() {
                    Ok(Seen::Silence)
                } else {
                    self.tell(&format!("{OWN_WORDS}cannot be reached now: {error}"))
                }
            }
        }
    }

    /// Applies an event of the remote task to our task.
    fn take(&mut self, event: StreamResponse) -> Result<Seen, ExecutorError> {
        let turn = self.turn;
        let emissions = self.mirror.reflect(event, || turn.task());
        let seen = if emissions.is_empty() { Seen::Silence } else { Seen::Change };
        for emission in emissions {
            match self.events.emit(emission) {
                Err(_) if turn.is_canceled() => return Ok(Seen::Over),
                emitted => emitted?,
            }
        }
        let is_over = self.mirror.is_settled() || turn.is_canceled();
        Ok(if is_over { Seen::Over } else { seen })
    }

    /// Sets a status message of our own on the task.
    fn tell(&mut self, text: &str) -> Result<Seen, ExecutorError> {
        let message = self.events.message(vec![Part::text(text)]);
        match self.events.emit(self.mirror.interject(message)) {
            Err(_) if self.turn.is_canceled() => Ok(Seen::Over),
            told => told.map(|()| Seen::Silence),
        }
    }

    /// Passes on the client's messages that are already waiting.
    async fn pass_on_waiting(&mut self) -> Result<Seen, ExecutorError> {
        let mut seen = Seen::Silence;
        while !self.mirror.is_settled()
            && let Some(message) = self.turn.run_task.take_message()
        {
            seen = self.pass_on(message).await?.or(seen);
        }
        Ok(seen)
    }

    /// Passes on a message that arrived after the message of the turn, unless an earlier attempt has passed it on.
    async fn pass_on(&mut self, message: Message) -> Result<Seen, ExecutorError> {
        self.messages += 1;
        let nth = match self.turn.begin_step::<bool>(PASSED_ON)? {
            StepStart::Done(_) => return Ok(Seen::Silence),
            StepStart::New(nth) => nth,
        };
        let number = self.turn.number + self.messages;
        let request = messages::request(self.turn, message, number, Some(&self.link));
        let sent = self.client.send(request).await;
        match self.turn.end_step(PASSED_ON, nth, Ok(&sent.is_ok())) {
            Err(_) if self.turn.is_canceled() => return Ok(Seen::Over),
            kept => kept?,
        }
        match sent {
            Ok(Sent::Task(task)) => self.take(StreamResponse::Task(task)),
            Ok(Sent::Message(message)) => self.take(StreamResponse::Message(message)),
            Err(error) => self.tell(&format!("{OWN_WORDS}did not take the message: {error}")),
        }
    }

    /// Registers a callback of this run as a webhook at the remote agent. Returns true if the webhook was registered by
    /// this attempt.
    async fn ask_for_webhooks(&mut self) -> bool {
        if self.callback.is_some() || !self.terms.webhooks || !self.link.has_webhooks {
            return false;
        }
        let terms = CallbackTerms::times(MOST_CALLS).for_millis(LONGEST_WAIT_MS);
        let Ok(callback) = self.turn.callback_with(WEBHOOK, terms) else { return false };
        let is_new = std::cell::Cell::new(false);
        let asked = self.turn.step(WEBHOOK, async || {
            is_new.set(true);
            let webhook = TaskPushNotificationConfig {
                tenant: None,
                id: self.turn.unique_id().to_owned(),
                task_id: self.link.task.clone(),
                url: callback.url().to_owned(),
                token: None,
                authentication: None,
                events: EventFilter::All,
                signing_secret: None,
            };
            Ok(self.client.create_webhook(webhook).await.is_ok())
        });
        if asked.await == Ok(true) {
            self.callback = Some(callback);
        } else {
            // If the remote agent refuses a webhook, this task requests no further webhooks.
            self.link.has_webhooks = false;
        }
        is_new.get() && self.callback.is_some()
    }

    /// Parks the run. The function returns only if the wait is over at once; otherwise this run ends here, and another
    /// run resumes.
    async fn park(&self, millis: u64) -> Result<(), ExecutorError> {
        let wait = Wait::for_millis(millis).or_message();
        match &self.callback {
            Some(callback) => self.turn.wait_callback(callback, wait).await.map(|_| ()),
            None => self.turn.wait_until(wait).await.map(|_| ()),
        }
    }
}

impl Seen {
    /// The more important of two results.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Over, _) | (_, Self::Over) => Self::Over,
            (Self::Change, _) | (_, Self::Change) => Self::Change,
            (Self::Silence, Self::Silence) => Self::Silence,
        }
    }
}

/// The code of TaskNotFoundError (spec §5.4).
const TASK_NOT_FOUND: i32 = -32001;

/// The names of the steps that pass on a message and register a webhook. The callback has the same name as the second
/// step.
const PASSED_ON: &str = "message";
const WEBHOOK: &str = "webhook";

/// The number of webhook calls that a callback accepts; after them the run only polls.
const MOST_CALLS: u32 = 1_000;
