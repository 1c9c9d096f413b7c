//! Follows a task to its end: opens the stream, reads it, reconnects after it breaks off, polls if there is no stream, and
//! reports every change once.

mod form;
mod live;
mod poll;
mod recent;
mod telling;

use super::{CallOptions, Client, ClientError, TaskEvent};
use crate::call::{Call, FollowCall, TaskCall};
use crate::http::HttpError;
use crate::model::{GetTaskRequest, SendMessageRequest, SubscribeToTaskRequest, Task};
use crate::model::{TaskId, UnixMillis};
use live::Live;
use telling::Telling;

use super::retry::{Failure, MAX_RETRY_AFTER_MS, Retries};
use super::{Answer, Streaming};

/// The call that starts following a task.
pub(super) enum Start {
    /// Sends a message.
    Send(Box<SendMessageRequest>),
    /// Subscribes to an existing task.
    Subscribe(SubscribeToTaskRequest),
}

/// The state of following a task.
pub(super) struct Following {
    client: Client,
    start: Start,
    options: CallOptions,
    /// The deadline for opening the stream.
    opens_until: UnixMillis,
    telling: Telling,
    source: Source,
    /// The number of consecutive attempts to reconnect without a new event.
    failures: u32,
    /// The reason why the stream broke off.
    reason: Option<ClientError>,
    /// The agent's refusal in the version of its card, while another version is tried.
    refusal: Option<ClientError>,
    /// The delay that the server requires before a client reconnects, in milliseconds.
    retry_ms: u64,
}

/// The present source of events.
enum Source {
    /// No request was sent yet.
    Beginning,
    /// An open stream.
    Live(Box<Live>),
    /// A stream whose first event is an error.
    Refused(ClientError),
    /// A stream that broke off.
    Cut,
    /// The task is polled.
    Polling(poll::Polling),
    /// The task has ended; missing events may still be fetched.
    Ending,
    /// There are no further events.
    Over,
}

/// The result of requesting a stream.
enum Opened {
    Live(Box<Live>),
    /// A single answer in place of a stream.
    Whole(Box<Answer>),
}

impl Following {
    pub(super) fn new(
        client: Client,
        start: Start,
        known: Option<Task>,
        options: CallOptions,
    ) -> Self {
        let telling = Telling::new(known, options.last_event_id.clone());
        let (source, reason) = (Source::Beginning, None);
        let (refusal, failures, retry_ms) = (None, 0, 0);
        let opens_until = client.deadline(&options);
        Self {
            client,
            start,
            options,
            opens_until,
            telling,
            source,
            failures,
            reason,
            refusal,
            retry_ms,
        }
    }

    /// The next event; `None` at the end, and after an error.
    pub(super) async fn next(&mut self) -> Option<Result<TaskEvent, ClientError>> {
        loop {
            if let Some(event) = self.telling.next() {
                return Some(Ok(event));
            }
            if matches!(self.source, Source::Over) {
                return None;
            }
            let done = if self.is_opening() {
                let (client, end) = (self.client.clone(), self.opens_until);
                client.until(end, Box::pin(self.go_on())).await
            } else {
                self.go_on().await
            };
            if let Err(error) = done {
                self.source = Source::Over;
                return Some(Err(error));
            }
        }
    }

    /// True if the stream is not open yet. The stream of a send counts as open after its first event.
    fn is_opening(&self) -> bool {
        let is_send = matches!(self.start, Start::Send(_));
        matches!(self.source, Source::Beginning) || (is_send && self.telling.told().is_none())
    }

    async fn go_on(&mut self) -> Result<(), ClientError> {
        match &self.source {
            Source::Beginning => Box::pin(self.begin()).await,
            Source::Live(_) => Box::pin(self.read()).await,
            Source::Refused(error) => {
                let error = error.clone();
                Box::pin(self.refused(error)).await
            }
            Source::Cut => Box::pin(self.come_back()).await,
            Source::Polling(_) => Box::pin(self.poll()).await,
            Source::Ending => Box::pin(self.end()).await,
            Source::Over => Ok(()),
        }
    }

    async fn begin(&mut self) -> Result<(), ClientError> {
        let call = match &self.start {
            Start::Send(request) => FollowCall::SendStreamingMessage(request.clone()),
            Start::Subscribe(request) => FollowCall::SubscribeToTask(request.clone()),
        };
        let call = Call::Follow(call);
        let mut retries = Retries::new(&call, self.options.deadline);
        let wants_stream = self.client.settings().streaming != Streaming::Never;
        loop {
            let failure = match self.client.connect().await {
                Ok(connection) if !connection.streams || !wants_stream => {
                    return self.begin_to_poll().await;
                }
                Ok(_) => match self.open(&call).await {
                    Ok(opened) => return self.opened(opened),
                    Err(failure) if is_refusal(&failure.error) => {
                        return self.refused(failure.error).await;
                    }
                    Err(failure) => failure,
                },
                Err(error) => error.into(),
            };
            retries.wait(&self.client, failure).await?;
        }
    }

    /// Handles the refusal of a stream.
    async fn refused(&mut self, error: ClientError) -> Result<(), ClientError> {
        if is_final(&error) {
            return Err(error);
        }
        if let Some(id) = self.telling.told().map(|task| task.id.clone()) {
            // The task has ended, or the server does not support subscriptions.
            return self.look_instead(&id).await;
        }
        if self.client.goes_on_otherwise(&error, &mut self.refusal).await {
            self.source = Source::Beginning;
            return Ok(());
        }
        let error = self.refusal.take().unwrap_or(error);
        if self.is_worth_asking_otherwise(&error) {
            self.begin_otherwise(error).await
        } else {
            Err(error)
        }
    }

    /// True if a refused call may succeed without a stream.
    fn is_worth_asking_otherwise(&self, error: &ClientError) -> bool {
        match (&self.start, error) {
            (Start::Subscribe(_), _) | (Start::Send(_), ClientError::NotInVersion(_)) => true,
            (Start::Send(_), ClientError::Remote(error)) => {
                matches!(error.code, UNSUPPORTED_OPERATION | METHOD_NOT_FOUND)
            }
            (Start::Send(_), ClientError::Http(HttpError::Status { status, .. })) => {
                matches!(status, 404 | 405 | 501)
            }
            (Start::Send(_), _) => false,
        }
    }

    /// Starts without a stream: the card was wrong about streaming, or the task has already ended.
    async fn begin_otherwise(&mut self, refusal: ClientError) -> Result<(), ClientError> {
        let is_subscription = matches!(self.start, Start::Subscribe(_));
        match self.begin_to_poll().await {
            // Reading the task was refused, too, so the first refusal is the reason.
            Err(error) if is_subscription && is_refusal(&error) => Err(refusal),
            done => done,
        }
    }

    /// Requests a stream, in one attempt.
    async fn open(&self, call: &Call) -> Result<Opened, Failure> {
        let options = CallOptions {
            last_event_id: self.telling.last_id().map(str::to_owned),
            ..self.options.clone()
        };
        let (wire, answer) = self.client.open(call, &options).await?;
        let (is_stream, answer) = form::told(answer).await.map_err(ClientError::from)?;
        if is_stream {
            return Ok(Opened::Live(Box::new(Live::new(wire, answer, call))));
        }
        let answer = self.client.whole(&wire, call, answer).await?;
        Ok(Opened::Whole(Box::new(answer)))
    }

    fn opened(&mut self, opened: Opened) -> Result<(), ClientError> {
        match opened {
            Opened::Live(live) => {
                self.telling.connected();
                self.source = Source::Live(live);
                Ok(())
            }
            Opened::Whole(answer) => self.answered(*answer),
        }
    }

    /// Reconnects to a task whose stream broke off.
    async fn come_back(&mut self) -> Result<(), ClientError> {
        let Some(task) = self.telling.told().cloned() else { return self.begin_again().await };
        if task.status.state.is_terminal() {
            self.source = Source::Ending;
            return Ok(());
        }
        if self.failures > self.client.settings().max_retries {
            return self.look_instead(&task.id).await;
        }
        self.pause().await?;
        let request = SubscribeToTaskRequest { tenant: None, id: task.id.clone() };
        let call = Call::Follow(FollowCall::SubscribeToTask(request));
        match self.open(&call).await {
            Ok(opened) => self.opened(opened),
            Err(failure) if failure.error.may_pass() => {
                let wanted_ms = failure.retry_after_ms.unwrap_or(0);
                if wanted_ms > MAX_RETRY_AFTER_MS {
                    return Err(failure.error);
                }
                self.cut(failure.error);
                self.retry_ms = wanted_ms;
                Ok(())
            }
            // The server no longer accepts its own event ids.
            Err(failure) if is_bad_request(&failure.error) && self.telling.forget_numbers() => {
                self.source = Source::Cut;
                Ok(())
            }
            Err(failure) => self.refused(failure.error).await,
        }
    }

    /// Sends the message or subscribes again, because no event was reported yet.
    async fn begin_again(&mut self) -> Result<(), ClientError> {
        let reason = self.reason.take().unwrap_or(ClientError::Ended);
        let may_pass = reason == ClientError::Ended || reason.may_pass();
        if !may_pass || self.failures > self.client.settings().max_retries {
            return Err(reason);
        }
        self.pause().await?;
        self.source = Source::Beginning;
        Ok(())
    }

    /// Waits before the next attempt.
    async fn pause(&mut self) -> Result<(), ClientError> {
        let wanted_ms = std::mem::take(&mut self.retry_ms);
        let delay_ms = self.client.retry_delay_ms(self.failures.max(1)).max(wanted_ms);
        self.sleep(delay_ms).await
    }

    async fn sleep(&self, millis: u64) -> Result<(), ClientError> {
        let clock = &self.client.ports().clock;
        if self.options.deadline.is_some_and(|end| clock.now().after(millis) >= end) {
            return Err(ClientError::Timeout);
        }
        clock.sleep(millis).await;
        Ok(())
    }

    /// Fetches and then polls a task for which no stream can be opened any more.
    async fn look_instead(&mut self, id: &TaskId) -> Result<(), ClientError> {
        let reason = self.reason.take();
        let task = match self.look(id).await {
            Ok(task) => task,
            Err(error) if is_refusal(&error) => return Err(reason.unwrap_or(ClientError::Ended)),
            Err(error) => return Err(error),
        };
        let has_news = self.telling.look(task);
        match reason {
            // The server has sent the reason, and nothing has changed since.
            Some(error @ ClientError::Remote(_)) if !has_news && !self.is_done() => Err(error),
            _ => {
                self.go_on_polling(true);
                Ok(())
            }
        }
    }

    /// Fetches the present task.
    async fn look(&self, id: &TaskId) -> Result<Task, ClientError> {
        let request = GetTaskRequest { tenant: None, id: id.clone(), history_length: None };
        let options = CallOptions { deadline: self.options.deadline, ..CallOptions::default() };
        let call = Call::Task(TaskCall::GetTask(request));
        self.client.exchange(&call, &options).await?.task("GetTask")
    }

    /// Records that a stream broke off.
    fn cut(&mut self, reason: ClientError) {
        self.failures += 1;
        self.reason = Some(reason);
        self.source = Source::Cut;
    }

    /// True if no further event can follow the known task.
    fn is_done(&self) -> bool {
        let Some(task) = self.telling.told() else { return false };
        let is_send = matches!(self.start, Start::Send(_));
        task.status.state.is_terminal() || (is_send && task.status.state.is_interrupted())
    }

    /// Finishes after the end of the task: fetches the task if events are missing, and releases the last event.
    async fn end(&mut self) -> Result<(), ClientError> {
        if let Some(id) = self.telling.wants_a_look()
            && let Ok(task) = self.look(&id).await
        {
            self.telling.look(task);
        }
        self.telling.let_go();
        self.source = Source::Over;
        Ok(())
    }

    fn now(&self) -> UnixMillis {
        self.client.ports().clock.now()
    }
}

/// True if the server has understood and refused the request, so that the same request will not succeed later.
fn is_refusal(error: &ClientError) -> bool {
    match error {
        ClientError::Remote(_) | ClientError::Http(HttpError::Status { .. }) => !error.may_pass(),
        ClientError::Unexpected(_)
        | ClientError::NotInVersion(_)
        | ClientError::Http(HttpError::Misfit { .. }) => true,
        _ => false,
    }
}

/// True if an error concerns the client itself, so that any other request would fail, too.
fn is_final(error: &ClientError) -> bool {
    match error {
        ClientError::Credentials(_) | ClientError::Timeout => true,
        ClientError::Remote(error) => matches!(error.status, 401 | 403),
        ClientError::Http(HttpError::Status { status, .. }) => matches!(status, 401 | 403),
        _ => false,
    }
}

/// True if the server reports that the request is invalid.
fn is_bad_request(error: &ClientError) -> bool {
    match error {
        ClientError::Remote(error) => error.code == INVALID_PARAMS,
        ClientError::Http(HttpError::Status { status, .. }) => *status == 400,
        _ => false,
    }
}

const INVALID_PARAMS: i32 = -32602;
const UNSUPPORTED_OPERATION: i32 = -32004;
const METHOD_NOT_FOUND: i32 = -32601;
