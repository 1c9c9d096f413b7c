//! The steps of a turn: done once, and stored as JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Retry, StepStart, Turn};
use crate::executor::ExecutorError;
use crate::port::{Work, WorkEnd};
use a2a::model::Json;
use a2a::model::decode::{Member, decode, summary};

impl Turn {
    /// Executes `work` once: the result or error is stored, and a run that resumes gets the stored value instead of
    /// repeating the work. Only a step that was interrupted before its end is repeated.
    ///
    /// The result is stored unchanged, so do not include [secrets](Self::secret) in it.
    ///
    /// A step is identified by its `name` (1 to 256 bytes) and, among steps of the same name in a run, by its number.
    /// Events before a step are stored before the step begins, so the task exists from the first step on: an agent that
    /// wants to answer with a direct message must not use steps.
    ///
    /// # Errors
    ///
    /// The error of `work`; if the result is larger than `MAX_STEP_BYTES`, or a run has more than `MAX_STEPS` steps; if
    /// the task has ended.
    pub async fn step<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        work: impl AsyncFn() -> Result<T, ExecutorError>,
    ) -> Result<T, ExecutorError> {
        self.step_with(name, Retry::NEVER, work).await
    }

    /// Like [`step`](Self::step), and repeats `work` if it fails. The count of attempts restarts if the run is
    /// interrupted meanwhile.
    ///
    /// # Errors
    ///
    /// The errors of [`step`](Self::step), with the last error of `work`.
    pub async fn step_with<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        retry: Retry,
        work: impl AsyncFn() -> Result<T, ExecutorError>,
    ) -> Result<T, ExecutorError> {
        let nth = match self.run_task.begin_step(name)? {
            StepStart::New(nth) => nth,
            StepStart::Done(Ok(json)) => return read(name, &json),
            StepStart::Done(Err(reason)) => return Err(ExecutorError(reason)),
        };
        let ends = |_: &ExecutorError| self.is_canceled();
        let timed = self.begin_timed("step", name, nth);
        let result = retry.done(work, ends, async |millis| self.sleep(millis).await).await;
        self.end_timed(timed, Work::Step(name), WorkEnd::of(result.is_err()));
        self.end_step(name, nth, result.as_ref().map_err(|error| error.0.clone()))?;
        result
    }

    /// The result of the task's newest [`step`](Self::step) of this name, in any turn. So a turn can read the work that an
    /// earlier turn has begun outside, and [`cancel`](crate::executor::AgentExecutor::cancel) can read the work that must be ended. Failed
    /// steps do not count. The task is read from storage.
    ///
    /// # Errors
    ///
    /// If storage fails, or the result is of another type.
    pub fn last_step<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ExecutorError> {
        self.run_task.last_step(name)?.map(|json| read(name, &json)).transpose()
    }

    /// The result of the newest step of this name, as [`last_step`](Self::last_step). It is a form of this program.
    ///
    /// # Errors
    ///
    /// As [`last_step`](Self::last_step).
    pub(crate) fn last_kept<T: Member>(&self, name: &str) -> Result<Option<T>, ExecutorError> {
        self.run_task.last_step(name)?.map(|json| kept(name, &json)).transpose()
    }

    /// Begins a step that the caller ends by [`end_step`](Self::end_step). An earlier attempt may have ended the step; its result
    /// is read as `T`, a form of this program.
    ///
    /// # Errors
    ///
    /// If the run must not have such a step, or the stored result is no `T`.
    pub(crate) fn begin_step<T: Member>(&self, name: &str) -> Result<StepStart<T>, ExecutorError> {
        Ok(match self.run_task.begin_step(name)? {
            StepStart::New(nth) => StepStart::New(nth),
            StepStart::Done(Err(reason)) => StepStart::Done(Err(reason)),
            StepStart::Done(Ok(json)) => StepStart::Done(Ok(kept(name, &json)?)),
        })
    }

    /// Begins a new step, after the steps of this name that earlier attempts have ended.
    ///
    /// # Errors
    ///
    /// If the run must not have one more step.
    pub(crate) fn begin_new_step(&self, name: &str) -> Result<u32, ExecutorError> {
        loop {
            if let StepStart::New(nth) = self.run_task.begin_step(name)? {
                return Ok(nth);
            }
        }
    }

    /// Stores the outcome of a step. A result that is not JSON is stored as a failure.
    ///
    /// # Errors
    ///
    /// If the outcome cannot be stored, or is not JSON.
    pub(crate) fn end_step<T: Serialize>(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<&T, String>,
    ) -> Result<(), ExecutorError> {
        match outcome.map(|value| written(name, value)) {
            Ok(Ok(json)) => self.keep_step(name, nth, Ok(json)),
            Ok(Err(misfit)) => {
                self.keep_step(name, nth, Err(misfit.0.clone()))?;
                Err(misfit)
            }
            Err(reason) => self.keep_step(name, nth, Err(reason)),
        }
    }

    /// Stores the value with which the run continues after a step that failed. The value is stored as a result.
    ///
    /// # Errors
    ///
    /// If the value cannot be stored.
    pub(crate) fn end_failed_step<T: Serialize>(
        &self,
        name: &str,
        nth: u32,
        kept: &T,
    ) -> Result<(), ExecutorError> {
        self.run_task.end_failed_step(name, nth, written(name, kept)?)
    }

    /// Stores the outcome of a step as JSON. Secrets are removed from the reason of a failure: a run that resumes may not have read
    /// them.
    pub(crate) fn keep_step(
        &self,
        name: &str,
        nth: u32,
        outcome: Result<Json, String>,
    ) -> Result<(), ExecutorError> {
        let outcome = outcome.map_err(|reason| self.redaction.text(&reason).into_owned());
        self.run_task.end_step(name, nth, outcome)
    }
}

fn written<T: Serialize>(name: &str, value: &T) -> Result<Json, ExecutorError> {
    let misfit = |error| ExecutorError(format!("the result of step {name:?} is not JSON: {error}"));
    Json::of(value).map_err(misfit)
}

fn read<T: DeserializeOwned>(name: &str, json: &Json) -> Result<T, ExecutorError> {
    serde_json::from_value(json.value()).map_err(|error| misfit(name, &error))
}

fn kept<T: Member>(name: &str, json: &Json) -> Result<T, ExecutorError> {
    decode(json.value()).map_err(|found| misfit(name, &summary(found)))
}

fn misfit(name: &str, error: &serde_json::Error) -> ExecutorError {
    ExecutorError(format!("the stored result of step {name:?}: {error}"))
}
