//! One call: its request, its retries and its answer.

use futures_util::future::{Either, select};

use super::address::Address;
use super::codec::Wire;
use super::retry::{Failure, Retries};
use super::{Answer, CallOptions, Client, ClientError};
use crate::call::{Call, TaskCall};
use crate::http::{HttpAnswer, HttpRequest, retry_after_ms};
use crate::model::{UnixMillis, fnv1a};

impl Client {
    /// Makes any call with a single answer, and returns the answer. Failures that [may pass](ClientError::may_pass) are
    /// retried according to the settings, unless a retry could repeat an effect: a webhook without an id is not created
    /// again, and a redelivery is not requested again. A send is retried, always with the same message id and
    /// `Idempotency-Key`. A server that supports neither of the two may begin a second task if its first answer was lost.
    ///
    /// # Errors
    ///
    /// If the agent refuses the call, or cannot be called.
    pub async fn call(&self, call: &Call, options: &CallOptions) -> Result<Answer, ClientError> {
        let call = &*self.deepened_call(call)?;
        let deadline = self.deadline(options);
        let trying = Box::pin(async {
            let mut retries = Retries::new(call, options.deadline);
            let options = &CallOptions { deadline: Some(deadline), ..options.clone() };
            let mut refusal = None;
            loop {
                let failure = match self.attempt(call, options).await {
                    Ok(answer) => {
                        self.0.is_proven.set(true);
                        return Ok(answer);
                    }
                    // The timeout of the request was the rest of the time until the deadline.
                    Err(_) if self.ports().clock.now() >= deadline => {
                        return Err(ClientError::Timeout);
                    }
                    Err(failure) => failure,
                };
                if !self.goes_on_otherwise(&failure.error, &mut refusal).await {
                    let error = refusal.take().unwrap_or(failure.error);
                    retries.wait(self, Failure { error, ..failure }).await?;
                }
            }
        });
        self.until(deadline, trying).await
    }

    /// The deadline of a call that begins now.
    pub(super) fn deadline(&self, options: &CallOptions) -> UnixMillis {
        let total = || self.ports().clock.now().after(self.settings().timeout_ms);
        options.deadline.unwrap_or_else(total)
    }

    pub(super) async fn exchange(
        &self,
        call: &Call,
        options: &CallOptions,
    ) -> Result<Answer, ClientError> {
        self.call(call, options).await
    }

    /// True if the call is to be tried in another version: the agent seems to support another version, and no call has
    /// succeeded yet. `refusal` is the first refusal. If the other version is refused, too, the first refusal is the error
    /// of the call, and the client returns to the version in the card.
    pub(super) async fn goes_on_otherwise(
        &self,
        error: &ClientError,
        refusal: &mut Option<ClientError>,
    ) -> bool {
        // If the other version does not have the operation, nothing was sent in that version.
        let is_absent = refusal.is_some() && matches!(error, ClientError::NotInVersion(_));
        if self.0.is_proven.get() || !(is_absent || error.looks_like_other_version()) {
            refusal.take();
            return false;
        }
        if refusal.is_some() {
            self.connect_as_before();
            return false;
        }
        let Ok(connection) = self.connect().await else { return false };
        let goes_on = self.connect_otherwise(&connection).await.is_some();
        *refusal = Some(error.clone()).filter(|_| goes_on);
        goes_on
    }

    /// One attempt of a call.
    async fn attempt(&self, call: &Call, options: &CallOptions) -> Result<Answer, Failure> {
        let (wire, answer) = self.open(call, options).await?;
        self.whole(&wire, call, answer).await
    }

    /// Reads the whole body of an answer.
    pub(super) async fn whole(
        &self,
        wire: &Wire,
        call: &Call,
        answer: HttpAnswer,
    ) -> Result<Answer, Failure> {
        let retry_after = answer.header("retry-after").map(str::to_owned);
        let answer = answer.text().await.map_err(ClientError::from)?;
        let status = answer.status;
        wire.answer(call, answer).map_err(|error| {
            let now = self.ports().clock.now();
            let retry_after_ms = retry_after.and_then(|text| retry_after_ms(&text, now));
            let is_untouched = status == 429 || (status == 503 && retry_after_ms.is_some());
            let error = match error {
                ClientError::Http(error) if matches!(status, 429 | 503) => {
                    ClientError::Busy { error, retry_after_ms }
                }
                error => error,
            };
            Failure { error, retry_after_ms, is_untouched }
        })
    }

    /// Sends the request of a call, and returns when the head of the answer has arrived.
    pub(super) async fn open(
        &self,
        call: &Call,
        options: &CallOptions,
    ) -> Result<(Wire, HttpAnswer), ClientError> {
        let connection = self.connect().await?;
        let wire = Wire::new(&connection, self.settings());
        let options = CallOptions {
            idempotency_key: options.idempotency_key.clone().or_else(|| key(call)),
            ..options.clone()
        };
        let mut target: Option<String> = None;
        for _ in 0..=MAX_REDIRECTS {
            let make = || {
                let mut request = wire.request(call, &options)?;
                if let Some(url) = &target {
                    request.url.clone_from(url);
                }
                self.bound(&mut request, call, options.deadline)?;
                Ok(request)
            };
            let answer = self.dispatch(Some(call.operation()), &make).await?;
            match redirect(&answer)? {
                Some(url) => target = Some(url),
                None => return Ok((wire, answer)),
            }
        }
        let reason = format!("the agent answered with more than {MAX_REDIRECTS} redirects");
        Err(ClientError::Unexpected(reason))
    }

    /// Sets the timeout and the size limit of a request.
    fn bound(
        &self,
        request: &mut HttpRequest,
        call: &Call,
        deadline: Option<UnixMillis>,
    ) -> Result<(), ClientError> {
        let settings = self.settings();
        // A server may answer a send only after the task has ended, even if the request has `returnImmediately`. So a send
        // has the timeout of the whole call.
        let timeout_ms = match call {
            Call::Task(TaskCall::SendMessage(_)) => {
                settings.timeout_ms.max(settings.request_timeout_ms)
            }
            _ => settings.request_timeout_ms,
        };
        let left_ms = deadline.map(|end| end.millis_since(self.ports().clock.now()));
        if left_ms == Some(0) {
            return Err(ClientError::Timeout);
        }
        request.timeout_ms = left_ms.map_or(timeout_ms, |left_ms| timeout_ms.min(left_ms));
        request.max_bytes = if call.is_stream() { usize::MAX } else { MAX_ANSWER_BYTES };
        Ok(())
    }

    /// Waits for a future until the deadline.
    pub(super) async fn until<T>(
        &self,
        deadline: UnixMillis,
        future: impl Future<Output = Result<T, ClientError>> + Unpin,
    ) -> Result<T, ClientError> {
        let clock = &self.ports().clock;
        let left_ms = deadline.millis_since(clock.now());
        // The timer is polled first: a request that times out at the same instant counts as a timeout of the call.
        match select(clock.sleep(left_ms), future).await {
            Either::Left(_) => Err(ClientError::Timeout),
            Either::Right((done, _)) => done,
        }
    }
}

/// The `Idempotency-Key` of a send that begins a task: its message id, or a hash of an id that is too long or has characters
/// that a header cannot contain.
fn key(call: &Call) -> Option<String> {
    let id = &call.message().filter(|_| call.begins_task())?.message.message_id;
    let is_plain = id.len() <= MAX_KEY_BYTES && id.bytes().all(|byte| byte.is_ascii_graphic());
    let is_key = is_plain && !id.is_empty();
    Some(if is_key { id.clone() } else { format!("message-{:016x}", fnv1a(id.as_bytes())) })
}

/// The target of a redirect that preserves method and body (307, 308), if it is on the same host and port. A target
/// elsewhere is an error, because that server would receive the message. `None` for any other answer.
fn redirect(answer: &HttpAnswer) -> Result<Option<String>, ClientError> {
    if !matches!(answer.status, 307 | 308) {
        return Ok(None);
    }
    let Some(location) = answer.header("location") else { return Ok(None) };
    let from = Address::parse(&answer.url);
    let to = from.as_ref().and_then(|from| from.join(location));
    match (from, to) {
        (Some(from), Some(to)) if from.is_home_of(&to) => Ok(Some(to.url())),
        (_, to) => {
            let to = to.map_or_else(|| "no URL".to_owned(), |to| to.origin());
            let reason =
                format!("the agent answered with a redirect to {to}, which is another host");
            Err(ClientError::Unexpected(reason))
        }
    }
}

const MAX_REDIRECTS: usize = 3;

const MAX_KEY_BYTES: usize = 255;

/// The largest answer that is read as a whole: 4 MiB.
pub(super) const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
