//! The [`Turn`] that an executor handles.

mod callback;
mod emission;
mod events;
mod host;
mod parked;
mod step;
mod timing;
mod wait;

use std::rc::Rc;

use super::redaction::Redaction;
use super::{ExecutorError, TaskCredentials};
use crate::auth::Caller;
use crate::port::{HttpAnswer, HttpError, HttpRequest, Outside};
use crate::usage::{CallerLimits, Usage};
use a2a::model::{ContextId, Message, Metadata, Secret, Task, TaskId, UnixMillis};
use a2a::{Allowance, DayLimit};
use a2a_agents::{NotSet, Values};
use futures_util::future::{Either, select};

pub use a2a_agents::tool::{Retry, StepStart};
pub use callback::{Callback, CallbackTerms, Called, MAX_CALLBACK_USES};
pub use emission::Emission;
pub use events::Events;
pub use host::{RunOutside, RunTask};
pub use timing::{RunSpans, TimedWork, Timing};
pub use wait::{LONGEST_WAIT_MS, Wait, WaitStart, Woken};

/// One message to handle, with its context.
///
/// ```
/// use a2a_edge::prelude::*;
///
/// async fn execute(turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
///     // Done once: a run that resumes this one gets the same number.
///     let lot = turn.step("draw", async || Ok(turn.now().0 % 100)).await?;
///     events.working(Some("waiting an hour"))?;
///     turn.pause("hour", 3_600_000).await?;
///     if turn.is_canceled() {
///         return Ok(());
///     }
///     events.complete(Some(&format!("{}: {lot}", turn.message.text())))
/// }
/// ```
#[derive(Clone)]
pub struct Turn {
    /// The slug of the agent that received the message.
    pub agent: String,
    /// The id of the task for clients. Clients can read the task after the executor has emitted the first event. If the
    /// agent speaks the oldest dialect, different callers may choose the same id, so the id is not unique: use
    /// [`unique_id`](Self::unique_id).
    pub task_id: TaskId,
    /// The id of the conversation.
    pub context_id: ContextId,
    /// The message to handle.
    pub message: Message,
    /// The number of this message among the client's messages in this task, from 1. Later messages may already be in
    /// the history.
    pub number: usize,
    /// The metadata of the request.
    pub metadata: Option<Metadata>,
    /// True if the client has named the conversation, so that earlier tasks may belong to it.
    pub(crate) joins_context: bool,
    /// The caller of the request.
    pub caller: Caller,
    /// Media types that the client accepts; an empty list means any.
    pub accepted_output_modes: Vec<String>,
    /// The number of this attempt at the message, from 1. Another attempt follows when a run was interrupted. The count
    /// restarts after each [wait](Self::wait_until).
    pub attempt: u32,
    /// True if this run resumes an earlier run, which was interrupted or has waited: finished steps return their stored
    /// results, and events are not emitted twice.
    pub resumes: bool,
    pub(crate) deadline: UnixMillis,
    /// The total time that the run may take, in milliseconds.
    pub(crate) timeout_ms: u64,
    /// The origin of this Worker, for example `https://agents.example`, if it is known.
    pub(crate) origin: Option<String>,
    /// The caller's remaining daily allowance for models when the turn began, if there is a limit.
    pub(crate) allowance: Option<Allowance>,
    pub(crate) run_task: Rc<dyn RunTask>,
    pub(crate) run_outside: Rc<dyn RunOutside>,
    pub(crate) outside: Outside,
    pub(crate) redaction: Rc<Redaction>,
}

impl Turn {
    /// An id that no other task of the server has, for any caller. Use it where other systems need to identify the
    /// task, for example in an idempotency key. The value is the id of the task, unless a client has chosen that id.
    pub fn unique_id(&self) -> &str {
        self.run_task.unique_id()
    }

    /// The messages of this task so far, oldest first, including the message of this turn.
    pub fn history(&self) -> Vec<Message> {
        self.run_task.history()
    }

    /// The current value of the deployment's secret with this name. Where the value occurs in the run's events, or in
    /// the reason of its failure, clients receive the name instead, if the value has 8 bytes or more.
    ///
    /// # Errors
    ///
    /// If the secret is not set or empty; operators find the error in the log.
    pub fn secret(&self, name: &str) -> Result<Secret, ExecutorError> {
        Ok(self.noted(name, self.outside.secret(name))?)
    }

    /// The current value of the deployment's variable with this name. A variable is not a secret: clients may receive
    /// the value.
    ///
    /// # Errors
    ///
    /// The errors of [`secret`](Self::secret).
    pub fn variable(&self, name: &str) -> Result<String, ExecutorError> {
        Ok(self.outside.variable(name)?)
    }

    /// The credentials that the client has sent with its answer to [`require_auth`](super::Events::require_auth); `None` if it
    /// has sent no credentials. The credentials are stored encrypted and only for this turn: a run that resumes can read them,
    /// the next turn cannot. The texts in the credentials are replaced in the run's events, like [secrets](Self::secret). The
    /// result of a step is stored unchanged, so do not include credentials in it.
    ///
    /// ```
    /// use a2a_edge::prelude::*;
    ///
    /// async fn execute(turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
    ///     let Some(token) = turn.credentials().await?.and_then(|given| given.get("token")) else {
    ///         return events.require_auth("send a token for calendar.example");
    ///     };
    ///     let request = HttpRequest::new("GET", "https://calendar.example/today")
    ///         .with_header("Authorization", format!("Bearer {}", token.reveal()));
    ///     events.complete(Some(&turn.fetch(request).await?.body))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the credentials cannot be decrypted, because `STATE_KEY` was changed meanwhile. Operators find the error in the log.
    pub async fn credentials(&self) -> Result<Option<TaskCredentials>, ExecutorError> {
        let Some(opened) = self.run_task.credentials().await? else { return Ok(None) };
        let unfit = || ExecutorError("the credentials cannot be read".to_owned());
        let credentials = TaskCredentials::parse(&opened).ok_or_else(unfit)?;
        for (path, text) in credentials.texts() {
            self.redaction.note(&path, &text);
        }
        Ok(Some(credentials))
    }

    fn noted(&self, name: &str, found: Result<Secret, NotSet>) -> Result<Secret, NotSet> {
        found.inspect(|secret| self.redaction.note(name, secret))
    }

    /// True if the client has canceled the task. Later events are ignored.
    pub fn is_canceled(&self) -> bool {
        self.run_task.is_canceled()
    }

    /// Waits until the client cancels the task.
    pub async fn canceled(&self) {
        while !self.is_canceled() {
            self.run_task.changed().await;
        }
    }

    /// Waits in memory for `millis` milliseconds, or until the task is canceled. A run that resumes waits the whole
    /// time again; [`pause`](Self::pause) does not. The waits of both count as time of the run; the wait of
    /// [`wait_until`](Self::wait_until) does not count, and may be much longer.
    pub async fn sleep(&self, millis: u64) {
        let timer = self.run_outside.sleep(millis);
        select(timer, Box::pin(self.canceled())).await;
    }

    /// Waits for `millis` milliseconds in total, also if the run is interrupted meanwhile: a run that resumes waits for
    /// the rest. A [`step`](Self::step) of this name stores the end. The wait is in memory, so the object cannot be
    /// evicted meanwhile; use it for seconds. For more than half a minute use [`wait_until`](Self::wait_until), which
    /// removes the run from memory.
    ///
    /// # Errors
    ///
    /// The errors of [`step`](Self::step).
    pub async fn pause(&self, name: &str, millis: u64) -> Result<(), ExecutorError> {
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        let until = self.step(name, async || Ok(self.now().0.saturating_add(millis))).await?;
        let left = u64::try_from(until.saturating_sub(self.now().0)).unwrap_or(0);
        if left > 0 {
            self.sleep(left).await;
        }
        Ok(())
    }

    /// Waits in memory for the next message that the client sends during this run. To wait for longer than a run may
    /// take, call [`wait_until`](Self::wait_until) with [`or_message`](Wait::or_message) first; after it, this function
    /// returns the message at once.
    pub async fn next_message(&self) -> Message {
        loop {
            if let Some(message) = self.run_task.take_message() {
                return message;
            }
            self.run_task.changed().await;
        }
    }

    /// The number of times that clients have requested the task since this run began.
    pub fn polls(&self) -> u64 {
        self.run_task.polls()
    }

    /// Waits until clients have requested the task `count` times since this run began, or until it is canceled.
    pub async fn polled(&self, count: u64) {
        while self.polls() < count && !self.is_canceled() {
            self.run_task.changed().await;
        }
    }

    /// The current instant.
    pub fn now(&self) -> UnixMillis {
        self.run_outside.now()
    }

    /// Sends a request to another server, and reads the whole answer as text within the request's `timeout_ms`. The
    /// request may be sent again if the run is interrupted, unless it is part of a finished [`step`](Self::step).
    ///
    /// # Errors
    ///
    /// If no answer arrives in time, or the answer is too large. An answer with an error status is returned, not an
    /// error.
    pub async fn fetch(&self, request: HttpRequest) -> Result<HttpAnswer<String>, ExecutorError> {
        let (url, timeout_ms) = (request.url.clone(), request.timeout_ms);
        let whole = Box::pin(async { self.run_outside.http().send(request).await?.text().await });
        match select(whole, self.run_outside.sleep(timeout_ms)).await {
            Either::Left((answer, _)) => Ok(answer?),
            Either::Right(_) => Err(HttpError::Silent { url, timeout_ms }.into()),
        }
    }

    /// Like [`fetch`](Self::fetch), but returns the answer when its status and headers have arrived. The body is read
    /// piece by piece, each within `timeout_ms`; dropping the body ends the exchange.
    ///
    /// ```
    /// # use a2a_edge::executor::{Events, ExecutorError, Turn};
    /// # use a2a_edge::port::HttpRequest;
    /// # use a2a::model::{Artifact, Part};
    /// # async fn execute(turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
    /// let mut answer = turn.fetch_stream(HttpRequest::new("GET", "https://example.com/log")).await?;
    /// events.begin(Artifact::new("log", Part::text("")))?;
    /// while let Some(piece) = answer.body.next().await {
    ///     let piece = String::from_utf8_lossy(&piece?).into_owned();
    ///     events.append(Artifact::new("log", Part::text(piece)), false)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the head of the answer does not arrive in time.
    pub async fn fetch_stream(&self, request: HttpRequest) -> Result<HttpAnswer, ExecutorError> {
        Ok(self.run_outside.http().send(request).await?)
    }

    /// The current task, including the events of earlier attempts and earlier turns. `None` before the run's first event.
    ///
    /// A run that resumes and repeats its events must not decide by this value. A run that continues from the current state
    /// begins with [`take_up`](Self::take_up).
    pub fn task(&self) -> Option<Task> {
        self.run_task.task()
    }

    /// Lets the run continue from the current state of the task, instead of repeating the events of earlier attempts. Use it
    /// for an executor that follows an outside process: the process continues between attempts, so each attempt emits different
    /// events.
    ///
    /// After this call all events of the run are new; finished waits and the bodies that were posted to callbacks count as
    /// handled; finished [steps](Self::step) still return their stored results. So the run finds its position from
    /// [`task`](Self::task) and from steps, and emits the missing events. Returns the planned duration of the newest wait,
    /// in milliseconds; `None` if the run has never waited. In a run that does not resume, the call does nothing.
    ///
    /// ```
    /// use a2a_edge::prelude::*;
    /// use a2a_edge::testing::TestAgent;
    ///
    /// /// Says how far a machine elsewhere is, every hour until it is done.
    /// struct Watch;
    ///
    /// #[async_trait(?Send)]
    /// impl AgentExecutor for Watch {
    ///     async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
    ///         turn.take_up();
    ///         loop {
    ///             let percent = turn.fetch(HttpRequest::get("https://machine.example/percent")).await?.body;
    ///             if percent == "100" {
    ///                 return events.complete(None);
    ///             }
    ///             let said = turn.task().and_then(|task| task.status.message).map(|message| message.text());
    ///             if said.as_ref() != Some(&percent) {
    ///                 events.working(Some(&percent))?;
    ///             }
    ///             turn.wait_until(Wait::for_millis(3_600_000)).await?;
    ///         }
    ///     }
    ///
    ///     fn parks(&self) -> bool {
    ///         true
    ///     }
    /// }
    ///
    /// let agent = TestAgent::new(Watch);
    /// let asked = std::cell::Cell::new(0);
    /// agent.http().answer_with(move |_, _| {
    ///     asked.set(asked.get() + 1);
    ///     Ok(http::memory::ok(["0", "0", "50", "100"][asked.get() - 1]))
    /// });
    /// agent.send("watch").unwrap();
    /// agent.run();
    /// assert_eq!(agent.http().called().len(), 4);
    /// assert_eq!(agent.task().unwrap().status.state, TaskState::Completed);
    /// ```
    pub fn take_up(&self) -> Option<u64> {
        self.run_task.take_up()
    }

    /// The number of milliseconds that the run may still be in memory, for all its attempts together; after that its
    /// task fails. The time for which the run is parked does not count.
    pub fn time_left_ms(&self) -> u64 {
        self.deadline.millis_since(self.now())
    }

    /// Records the usage of a request to a model. Call it in the [`step`](Self::step) that made the request, before the step
    /// ends: then the usage is stored with the step's result, and a run that resumes does not record it twice. Usage outside of
    /// steps is stored with the event that ends the turn. When the turn
    /// is over, for any reason, its usage is added once to the daily sums of its caller. The metadata of the task contains
    /// the usage of all its turns (`urn:a2a-edge:usage`).
    ///
    /// ```
    /// use a2a_edge::prelude::*;
    ///
    /// async fn ask(turn: &Turn, question: &str) -> Result<String, ExecutorError> {
    ///     turn.step("ask", async || {
    ///         let request = HttpRequest::new("POST", "https://models.example/ask").with_body(question);
    ///         let answer = turn.fetch(request).await?;
    ///         let input_tokens = question.len() as u64 / 3;
    ///         let output_tokens = answer.body.len() as u64 / 3;
    ///         let cost_micros = input_tokens + 8 * output_tokens;
    ///         turn.record_usage(Usage { requests: 1, input_tokens, output_tokens, cost_micros });
    ///         Ok(answer.body)
    ///     })
    ///     .await
    /// }
    /// ```
    pub fn record_usage(&self, usage: Usage) {
        self.record_usage_of("", usage);
    }

    /// Like [`record_usage`](Self::record_usage), with the name of the model, by which the daily sums are told apart. A name has up to
    /// 100 characters, and a turn up to eight names: what goes beyond is counted without a name.
    pub fn record_usage_of(&self, model: &str, usage: Usage) {
        self.run_task.record_usage(model, usage);
    }

    /// Like [`record_usage`](Self::record_usage), for a request without a usable answer, because it was interrupted or had to be
    /// repeated. If the cost is not known, at least the request is counted. This usage is part of all sums, and the metadata of
    /// the task also lists it separately (`repeated`). It is stored when the run waits, independent of the outcome of the
    /// current step.
    pub fn record_repeated_usage(&self, usage: Usage) {
        self.record_repeated_usage_of("", usage);
    }

    /// Like [`record_repeated_usage`](Self::record_repeated_usage), with the name of the model.
    pub fn record_repeated_usage_of(&self, model: &str, usage: Usage) {
        self.run_task.record_repeated_usage(model, usage);
    }

    /// Records what of the usage of this turn so far is not recorded yet, number by number. An answer that is repeated reports the
    /// same usage again, and nothing is added. What is added is of the named model.
    pub(in crate::executor) fn record_usage_so_far(&self, model: &str, so_far: Usage) {
        let more = so_far.beyond(self.usage());
        if !more.is_nothing() {
            self.record_usage_of(model, more);
        }
    }

    /// The [usage](Self::record_usage) of this turn so far, for all its attempts together.
    pub fn usage(&self) -> Usage {
        self.run_task.usage()
    }

    /// The daily limit of the caller that this turn has reached, if any: the agent must send no further request to a model.
    /// Usage by other turns of the caller at the same time is not included; later messages are refused by the sum of all turns.
    pub fn used_up(&self) -> Option<DayLimit> {
        let Allowance { tokens, cost_micros } = self.allowance?;
        let left = CallerLimits { tokens_per_day: tokens, cost_micros_per_day: cost_micros };
        left.reached(self.usage())
    }

    /// True if the client accepts this media type.
    pub fn accepts(&self, media_type: &str) -> bool {
        let accepted = &self.accepted_output_modes;
        let kind = media_type.split('/').next().unwrap_or_default();
        accepted.is_empty()
            || accepted
                .iter()
                .any(|mode| mode == "*/*" || mode == media_type || *mode == format!("{kind}/*"))
    }
}

/// Values for `${NAME}` in the settings of an executor, for [`Expandable::expand`](a2a_agents::Expandable::expand): the
/// secret or the variable of that name. Both are treated as a [secret](Turn::secret).
impl Values for Turn {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        self.noted(name, self.outside.value(name))
    }
}
