//! The [`Turn`] that an executor is given to handle.

mod callback;
mod emission;
mod events;
mod host;
mod parked;
mod wait;

use std::rc::Rc;

use futures_util::future::{Either, select};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::redaction::Redaction;
use super::{ExecutorError, TaskCredentials};
use crate::auth::Caller;
use crate::port::{HttpAnswer, HttpError, HttpRequest, Outside};
use crate::usage::{CallerLimits, Usage};
use a2a::model::{ContextId, Json, Message, Metadata, Secret, Task, TaskId, UnixMillis};
use a2a::{Allowance, DayLimit};
use a2a_agents::{NotSet, Values};

pub use a2a_agents::tool::{Retry, StepStart};
pub use callback::{Callback, CallbackTerms, Called, MAX_CALLBACK_USES};
pub use emission::Emission;
pub use events::Events;
pub use host::{RunOutside, RunTask};
pub use wait::{LONGEST_WAIT_MS, Wait, WaitStart, Woken};

/// One message to handle, and what is known around it.
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
pub struct Turn {
    /// The agent that is asked.
    pub agent: String,
    /// The task, as clients know it; they see it once the executor says something about it. Where an agent speaks the oldest
    /// dialect, clients of several callers may have chosen the same id, so nothing is unique by it: see
    /// [`unique_id`](Self::unique_id).
    pub task_id: TaskId,
    /// The conversation.
    pub context_id: ContextId,
    /// The message to handle.
    pub message: Message,
    /// Which of the client's messages in this task it is, from 1. Later ones may be in the history.
    pub number: usize,
    /// The metadata of the request.
    pub metadata: Option<Metadata>,
    /// Whether the client has named the conversation, so that there may be earlier tasks in it.
    pub(crate) joins_context: bool,
    /// Who asks.
    pub caller: Caller,
    /// Media types that the client can take; none named means any.
    pub accepted_output_modes: Vec<String>,
    /// Which attempt at this message this is, from 1. Further ones follow when a run was interrupted. They count anew
    /// from each [wait](Self::wait_until) on.
    pub attempt: u32,
    /// Whether this run resumes the one before, which was interrupted or has waited: steps that were done give what they
    /// gave, and what was said is not said again.
    pub resumes: bool,
    pub(crate) deadline: UnixMillis,
    /// How long the run may take in all, in milliseconds.
    pub(crate) timeout_ms: u64,
    /// Where this Worker is, as `https://agents.example`, if that is known.
    pub(crate) origin: Option<String>,
    /// What the caller could still use of models in the day when the turn began, where that is limited.
    pub(crate) allowance: Option<Allowance>,
    pub(crate) run_task: Rc<dyn RunTask>,
    pub(crate) run_outside: Rc<dyn RunOutside>,
    pub(crate) outside: Outside,
    pub(crate) redaction: Rc<Redaction>,
}

impl Turn {
    /// An id that no other task of the server has, whoever its caller is: what others may know the task by, as in an
    /// idempotency key. The id of the task, unless a client has chosen that.
    pub fn unique_id(&self) -> &str {
        self.run_task.unique_id()
    }

    /// What was said in this task so far, oldest first, the message of this turn included.
    pub fn history(&self) -> Vec<Message> {
        self.run_task.history()
    }

    /// The secret of the deployment that has this name, as it is now. Where its text appears in what the run says, also
    /// in the reason of its failure, clients see its name instead, if it has 8 bytes or more.
    ///
    /// # Errors
    ///
    /// If it is not set or empty; operators are told.
    pub fn secret(&self, name: &str) -> Result<Secret, ExecutorError> {
        Ok(self.noted(name, self.outside.secret(name))?)
    }

    /// The variable of the deployment that has this name, as it is now. It is no secret: clients may see it.
    ///
    /// # Errors
    ///
    /// As [`secret`](Self::secret).
    pub fn variable(&self, name: &str) -> Result<String, ExecutorError> {
        Ok(self.outside.variable(name)?)
    }

    /// The credentials that the client gave with its answer to [`require_auth`](super::Events::require_auth); `None` if it
    /// gave none. They are kept encrypted for this turn alone: a run that resumes can read them, the next turn cannot.
    /// Their texts are kept out of what the run says, as those of [secrets](Self::secret). The result of a step is
    /// stored as it is, so keep them out of it.
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
    /// If they cannot be opened: `STATE_KEY` was changed meanwhile. Operators are told.
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

    /// Whether the client has canceled the task. Nothing said after that counts.
    pub fn is_canceled(&self) -> bool {
        self.run_task.is_canceled()
    }

    /// Waits until the client cancels the task.
    pub async fn canceled(&self) {
        while !self.is_canceled() {
            self.run_task.changed().await;
        }
    }

    /// Waits in memory for `millis` milliseconds, or until the task is canceled. A run that resumes waits anew;
    /// [`pause`](Self::pause) does not. Both count as time of the run; [`wait_until`](Self::wait_until) does not, and
    /// waits as long as one likes.
    pub async fn sleep(&self, millis: u64) {
        let timer = self.run_outside.sleep(millis);
        select(timer, Box::pin(self.canceled())).await;
    }

    /// Waits for `millis` milliseconds in all, also if the run is interrupted meanwhile: a run that resumes
    /// waits for what is left. A [`step`](Self::step) of this name remembers the end. It waits in memory, for seconds: the
    /// object cannot be evicted meanwhile. For more than half a minute take [`wait_until`](Self::wait_until), which
    /// drops the run until then.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    pub async fn pause(&self, name: &str, millis: u64) -> Result<(), ExecutorError> {
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        let until = self.step(name, async || Ok(self.now().0.saturating_add(millis))).await?;
        let left = u64::try_from(until.saturating_sub(self.now().0)).unwrap_or(0);
        if left > 0 {
            self.sleep(left).await;
        }
        Ok(())
    }

    /// Waits in memory for the next message that the client sends while this run is under way. To wait for one for longer
    /// than a run may take, [`wait_until`](Self::wait_until) with [`or_message`](Wait::or_message) goes first; then
    /// the message lies ready here.
    pub async fn next_message(&self) -> Message {
        loop {
            if let Some(message) = self.run_task.take_message() {
                return message;
            }
            self.run_task.changed().await;
        }
    }

    /// How often clients have asked for the task since this run began.
    pub fn polls(&self) -> u64 {
        self.run_task.polls()
    }

    /// Waits until clients have asked for the task `count` times since this run began, or until it is
    /// canceled.
    pub async fn polled(&self, count: u64) {
        while self.polls() < count && !self.is_canceled() {
            self.run_task.changed().await;
        }
    }

    /// The present instant.
    pub fn now(&self) -> UnixMillis {
        self.run_outside.now()
    }

    /// Sends a request to another server, and reads the whole answer as text within the request's `timeout_ms`.
    /// It may be sent again if the run is interrupted, unless it is part of a [`step`](Self::step) that is done.
    ///
    /// # Errors
    ///
    /// If there is no answer, not in time, or too large a one. An answer of any status is no error.
    pub async fn fetch(&self, request: HttpRequest) -> Result<HttpAnswer<String>, ExecutorError> {
        let (url, timeout_ms) = (request.url.clone(), request.timeout_ms);
        let whole = Box::pin(async { self.run_outside.http().send(request).await?.text().await });
        match select(whole, self.run_outside.sleep(timeout_ms)).await {
            Either::Left((answer, _)) => Ok(answer?),
            Either::Right(_) => Err(HttpError::Silent { url, timeout_ms }.into()),
        }
    }

    /// As [`fetch`](Self::fetch), but gives the answer when its status and headers are there. Its body comes
    /// piece by piece, each within `timeout_ms`; dropping it ends the exchange.
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
    /// If there is no answer, or its head does not come in time.
    pub async fn fetch_stream(&self, request: HttpRequest) -> Result<HttpAnswer, ExecutorError> {
        Ok(self.run_outside.http().send(request).await?)
    }

    /// The task as it is now: also what earlier attempts of this run, and earlier turns, have made of it. `None` before
    /// the run has said anything.
    ///
    /// A run that resumes and repeats what it said must not decide by it; one that goes on from there begins with
    /// [`take_up`](Self::take_up).
    pub fn task(&self) -> Option<Task> {
        self.run_task.task()
    }

    /// The run goes on from where the task stands, instead of repeating what earlier attempts said. For an executor
    /// that follows something outside which goes on meanwhile: what it says would be another thing each time.
    ///
    /// From here on all that it says is new, waits that were over are behind it, and so is what was posted to
    /// callbacks; [steps](Self::step) that were done still give what they gave. So it finds out where it is from
    /// [`task`](Self::task) and from steps, and says what is missing. Gives for how many milliseconds the newest wait was
    /// to park the run; `None` if it has never waited. In a run that does not resume nothing happens.
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

    /// What the newest [`step`](Self::step) of this name gave in this task, whichever turn took it. So a turn knows what
    /// an earlier one has begun outside, and [`cancel`](super::AgentExecutor::cancel) what is to be ended. Steps
    /// that failed do not count. It reads the task from storage.
    ///
    /// # Errors
    ///
    /// If storage fails, or the result is of another type.
    pub fn last_step<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ExecutorError> {
        let Some(result) = self.run_task.last_step(name)? else { return Ok(None) };
        let misfit = |error| ExecutorError(format!("the stored result of step {name:?}: {error}"));
        serde_json::from_value(result.value()).map(Some).map_err(misfit)
    }

    /// For how many milliseconds the run may still be in memory, all its attempts together; then its task fails. The
    /// time for which it is parked does not count.
    pub fn time_left_ms(&self) -> u64 {
        self.deadline.millis_since(self.now())
    }

    /// Does something once: its result, or its error, is stored, and is what a run that resumes this
    /// one gets instead of doing it again. Only a step that was interrupted in the middle is done again.
    ///
    /// The result is stored as it is, so keep [secrets](Self::secret) out of it.
    ///
    /// A step is known by its `name` (1 to 256 bytes); of several with one name in a run, the first is
    /// the first again. What came before a step is stored before it begins, and so the task exists from
    /// the first step on: an agent that means to answer with a direct message takes none.
    ///
    /// # Errors
    ///
    /// What `work` fails with; if the result is larger than `MAX_STEP_BYTES`, or a run has more than
    /// `MAX_STEPS` steps; if the task has ended.
    pub async fn step<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        work: impl AsyncFn() -> Result<T, ExecutorError>,
    ) -> Result<T, ExecutorError> {
        self.step_with(name, Retry::NEVER, work).await
    }

    /// As [`step`](Self::step), and tries again when `work` fails. Attempts count anew if the run is
    /// interrupted meanwhile.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step), with the last error of `work`.
    pub async fn step_with<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        retry: Retry,
        work: impl AsyncFn() -> Result<T, ExecutorError>,
    ) -> Result<T, ExecutorError> {
        let nth = match self.run_task.begin_step(name)? {
            StepStart::New(nth) => nth,
            StepStart::Done(outcome) => {
                let misfit = |error| format!("the stored result of step {name:?}: {error}");
                let read = |json: Json| serde_json::from_value(json.value()).map_err(misfit);
                return outcome.and_then(read).map_err(ExecutorError);
            }
        };
        let ends = |_: &ExecutorError| self.is_canceled();
        let result = retry.done(work, ends, async |millis| self.sleep(millis).await).await;
        let outcome = result.as_ref().map_err(|error| error.0.clone()).and_then(|value| {
            let unfit = |error| format!("the result of step {name:?} is no JSON: {error}");
            serde_json::to_value(value).map(|value| Json::from(&value)).map_err(unfit)
        });
        let misfit = outcome.as_ref().err().cloned();
        self.end_step(name, nth, outcome)?;
        match misfit {
            Some(error) => Err(ExecutorError(error)),
            None => result,
        }
    }

    /// Keeps what a step came to. The reason of a failure is kept without secrets: a run that resumes may not read them.
    pub(crate) fn end_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ExecutorError> {
        let outcome = outcome.map_err(|reason| self.redaction.text(&reason).into_owned());
        self.run_task.end_step(name, nth, outcome)
    }

    /// Tells what a request to a model has used. It belongs into the [`step`](Self::step) that made the request, before that
    /// ends: then it is stored with its result, and a run that resumes does not tell it again. When the turn is over,
    /// however it ended, what it has used is added to the sums of its caller for the day, once; the metadata of the task say
    /// what all its turns have used (`urn:a2a-edge:usage`).
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
        self.run_task.record_usage(usage);
    }

    /// As [`record_usage`](Self::record_usage), for a request whose answer came to nothing, because it was interrupted or had to be
    /// repeated: what is known of its cost, if only that it was made. It counts in all sums, and the metadata of the task tell it
    /// besides (`repeated`). It is stored when the run waits, whatever becomes of the step that is under way.
    pub fn record_repeated_usage(&self, usage: Usage) {
        self.run_task.record_repeated_usage(usage);
    }

    /// What this turn has [used](Self::record_usage) so far, all its attempts together.
    pub fn usage(&self) -> Usage {
        self.run_task.usage()
    }

    /// The limit of its caller for the day that this turn has reached, if it has reached one: its agent asks no model any more.
    /// What other turns of the caller use at the same time is not known here; messages that come later are refused by
    /// all of it.
    pub fn used_up(&self) -> Option<DayLimit> {
        let Allowance { tokens, cost_micros } = self.allowance?;
        let left = CallerLimits { tokens_per_day: tokens, cost_micros_per_day: cost_micros };
        left.reached(self.usage())
    }

    /// Whether the client takes this media type.
    pub fn accepts(&self, media_type: &str) -> bool {
        let accepted = &self.accepted_output_modes;
        let kind = media_type.split('/').next().unwrap_or_default();
        accepted.is_empty()
            || accepted
                .iter()
                .any(|mode| mode == "*/*" || mode == media_type || *mode == format!("{kind}/*"))
    }
}

/// Settings of an executor that hold `${NAME}` are filled in by [`Expandable::expand`](a2a_agents::Expandable::expand)
/// with the secret or the variable of that name, which is treated as a [secret](Turn::secret).
impl Values for Turn {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        self.noted(name, self.outside.value(name))
    }
}
