//! The parts of a run that survive its process: steps, waits, callbacks and messages.

use serde_json::json;

use super::run::{OpenRun, Refused, Role, read_value};
use crate::executor::{CallbackTerms, ExecutorError, StepStart, Wait, WaitStart};
use crate::task::{CallbackName, WokenBy};
use a2a::model::decode::{Decode, read_json};
use a2a::model::{Json, TaskState, UnixMillis, to_json};

/// A wait, as `js/api` describes it.
#[derive(Decode)]
#[serde(rename_all = "camelCase")]
struct Waiting {
    until_ms: Option<i64>,
    for_ms: Option<u64>,
    #[serde(default)]
    or_message: bool,
    callback: Option<Named>,
}

#[derive(Decode)]
struct Named {
    name: String,
    nth: u32,
}

impl OpenRun {
    /// Begins a step. Returns `{"new": 1}` with the number of the step, `{"done": …}` with its stored result, or `{"failed": "…"}` with the stored
    /// reason of its failure. In a cancel hook, the step is the newest one of this name that the task has done.
    ///
    /// # Errors
    ///
    /// If the run must not have this step.
    pub fn begin_step(&self, name: &str) -> Result<String, Refused> {
        self.check()?;
        if let Role::Hook = self.role {
            let done = self.turn.run_task.last_step(name)?;
            let done = done.ok_or_else(|| {
                Refused::Because(format!(
                    "`onCancel` begins no step; it may read the result of a step that the task has done, and {name:?} is not done"
                ))
            })?;
            return Ok(format!(r#"{{"done":{}}}"#, done.as_str()));
        }
        let begun = self.change(|| self.turn.run_task.begin_step(&self.step_name(name)))?;
        if let StepStart::New(nth) = begun {
            self.time_step(name, nth);
        }
        Ok(match begun {
            StepStart::New(nth) => json!({"new": nth}).to_string(),
            StepStart::Done(Ok(outcome)) => format!(r#"{{"done":{}}}"#, outcome.as_str()),
            StepStart::Done(Err(reason)) => json!({"failed": reason}).to_string(),
        })
    }

    /// Begins the step that writes an artifact piece by piece, as [`begin_step`](Self::begin_step). If the step was interrupted, its artifact begins
    /// anew: the events of earlier attempts are not compared any more.
    ///
    /// # Errors
    ///
    /// As for [`begin_step`](Self::begin_step).
    pub fn begin_write(&self, id: &str) -> Result<String, Refused> {
        self.check_turn("write an artifact")?;
        let begun = self.begin_step(&format!("write {id}"))?;
        if begun.starts_with(r#"{"new""#) {
            self.turn.run_task.forget_said();
        }
        Ok(begun)
    }

    /// Stores the outcome of a step: JSON, or the reason of its failure.
    ///
    /// # Errors
    ///
    /// If the outcome is not JSON, is too large, or cannot be stored.
    pub fn end_step(
        &self,
        name: &str,
        nth: u32,
        is_done: bool,
        outcome: &str,
    ) -> Result<(), Refused> {
        self.check()?;
        self.end_timed_step(name, nth, !is_done);
        let outcome =
            if is_done { Ok(Json::from(&read_value(outcome)?)) } else { Err(outcome.to_owned()) };
        self.change(|| self.turn.keep_step(&self.step_name(name), nth, outcome))
    }

    /// The name of a step in the task: the steps of a tool's call carry the key of the call.
    pub(super) fn step_name(&self, name: &str) -> String {
        match &self.role {
            Role::Call(call) => format!("{}/{name}", call.key),
            Role::Turn | Role::Hook => name.to_owned(),
        }
    }

    /// Begins a wait. Returns `time`, `message` or `callback` for a wait that is over, and `parks` if the run waits outside of memory.
    ///
    /// # Errors
    ///
    /// If the run must not wait.
    pub fn wait(&self, wait: &str) -> Result<&'static str, Refused> {
        self.check_turn("wait outside of memory")?;
        let Waiting { until_ms, for_ms, or_message, callback } = read_json(wait)?;
        let wait = match until_ms {
            Some(until_ms) => Wait::until(UnixMillis(until_ms)),
            None => Wait::for_millis(for_ms.unwrap_or_default()),
        };
        let wait = if or_message { wait.or_message() } else { wait };
        let callback = callback.map(|Named { name, nth }| CallbackName { name, nth });
        // A run that waits is at work, also if it has said nothing before.
        if self.turn.task().is_none_or(|task| task.status.state == TaskState::Submitted) {
            self.change(|| self.events.working(None))?;
        }
        let begun = self.change(|| self.turn.run_task.begin_wait(wait, callback.as_ref()))?;
        Ok(match begun {
            WaitStart::Over(WokenBy::Time) => "time",
            WaitStart::Over(WokenBy::Message) => "message",
            WaitStart::Over(WokenBy::Callback) if callback.is_some() => "callback",
            WaitStart::Over(WokenBy::Callback) => {
                let reason = "the agent was resumed and does not wait for the callback that it waited for before";
                return Err(Refused::Because(reason.to_owned()));
            }
            WaitStart::Parks => {
                self.park();
                "parks"
            }
        })
    }

    /// Makes a callback that can be used `uses` times within `lifetime_ms` milliseconds, 0 for the default of 30 days. Returns its number among the
    /// callbacks of this name, its URL, and the instant at which it expires.
    ///
    /// # Errors
    ///
    /// If the run must not have this callback, or the terms are out of range.
    pub fn callback(&self, name: &str, uses: u32, lifetime_ms: u64) -> Result<String, Refused> {
        self.check_turn("make callbacks")?;
        let terms = CallbackTerms::times(uses);
        let terms = if lifetime_ms > 0 { terms.for_millis(lifetime_ms) } else { terms };
        let made = self.change(|| self.turn.callback_with(name, terms))?;
        let nth = made.name.nth;
        Ok(json!({"nth": nth, "url": made.url(), "expires": made.expires().0}).to_string())
    }

    /// Takes the next body that was posted to a callback, as a part.
    ///
    /// # Errors
    ///
    /// If no body is waiting.
    pub fn take_call(&self, name: &str, nth: u32) -> Result<String, Refused> {
        self.check_turn("wait for callbacks")?;
        let name = CallbackName { name: name.to_owned(), nth };
        let part = self.change(|| self.turn.run_task.take_call(&name))?;
        Ok(to_json(&part)?)
    }

    /// Waits in memory for the next message of the client.
    ///
    /// # Errors
    ///
    /// If the run is over.
    pub async fn next_message(&self) -> Result<String, Refused> {
        self.check_turn("read messages")?;
        let message = self.turn.next_message().await;
        self.wake();
        Ok(to_json(&message)?)
    }

    /// The credentials that the client has sent with its answer, as a JSON object; empty text if there are none.
    ///
    /// # Errors
    ///
    /// If the credentials cannot be decrypted.
    pub async fn credentials(&self) -> Result<String, Refused> {
        self.check_turn("read credentials")?;
        let credentials = self
            .turn
            .credentials()
            .await
            .map_err(|ExecutorError(reason)| Refused::Because(reason))?;
        Ok(credentials.map(|given| given.data().to_string()).unwrap_or_default())
    }
}
