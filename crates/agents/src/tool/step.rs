//! Durable steps of a call: finished steps are not repeated.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Fault, StepStart, ToolCall, ToolError};
use a2a::model::{Json, doubled};

/// The number of attempts of a step, and the delays between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The maximum number of attempts, including the first; 0 counts as 1.
    pub attempts: u32,
    /// The delay before the second attempt, in milliseconds; it doubles with each further attempt.
    pub delay_ms: u64,
    /// The maximum delay between two attempts, in milliseconds.
    pub max_delay_ms: u64,
}

impl Retry {
    /// One attempt.
    pub const NEVER: Self = Self { attempts: 1, delay_ms: 0, max_delay_ms: 0 };

    /// At most `attempts` attempts. The first delay is one second, the longest 30 seconds.
    pub const fn times(attempts: u32) -> Self {
        Self { attempts, delay_ms: 1_000, max_delay_ms: 30_000 }
    }

    /// The delay after this number of failures, counted from 1, in milliseconds.
    pub fn delay_after(self, failures: u32) -> u64 {
        doubled(self.delay_ms, failures, self.max_delay_ms)
    }

    /// Calls `work` until it succeeds, has failed `attempts` times, or `ends` returns true for its error. Between two attempts,
    /// `sleep` waits for a number of milliseconds.
    ///
    /// # Errors
    ///
    /// The last error of `work`.
    pub async fn done<T, E>(
        self,
        work: impl AsyncFn() -> Result<T, E>,
        ends: impl Fn(&E) -> bool,
        sleep: impl AsyncFn(u64),
    ) -> Result<T, E> {
        let mut failures = 0;
        loop {
            let result = work().await;
            failures += 1;
            if failures >= self.attempts || result.as_ref().map_or_else(&ends, |_| true) {
                return result;
            }
            sleep(self.delay_after(failures)).await;
        }
    }
}

impl dyn ToolCall + '_ {
    /// Performs a step once. The result or the error of `work` is stored; when the call continues after a crash or a deployment,
    /// the step returns the stored one. Only a step that was interrupted is repeated.
    ///
    /// A step is identified by its `name` (1 to 240 bytes). Steps with the same name in one call are distinguished by their
    /// order. If a value differs between runs (responses of others, time, random numbers) and determines the next step, read the
    /// value within a step.
    ///
    /// ```
    /// use a2a_agents::http::HttpRequest;
    /// use a2a_agents::tool::{ToolCall, ToolError};
    ///
    /// async fn reserve(call: &dyn ToolCall) -> Result<String, ToolError> {
    ///     call.step("reserve", async || {
    ///         let request = HttpRequest::new("POST", "https://seats.example/reservations")
    ///             .with_header("Idempotency-Key", call.idempotency_key());
    ///         Ok(call.fetch(request).await?.body)
    ///     })
    ///     .await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `work`. Also an error if the result is larger than `MAX_STEP_BYTES`, if a run has more than `MAX_STEPS`
    /// steps, or if the caller has canceled the call.
    pub async fn step<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        work: impl AsyncFn() -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        self.step_with(name, Retry::NEVER, work).await
    }

    /// Like [`step`](trait.ToolCall.html#method.step), but repeats `work` after a failure, unless the arguments are at fault. If the call is interrupted
    /// before the step is finished, the number of attempts begins at 1 again.
    ///
    /// # Errors
    ///
    /// The errors of [`step`](trait.ToolCall.html#method.step); the error of `work` is that of the last attempt.
    pub async fn step_with<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        retry: Retry,
        work: impl AsyncFn() -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let nth = match self.begin_step(name)? {
            StepStart::New(nth) => nth,
            StepStart::Done(outcome) => {
                let json = outcome.map_err(|stored| recalled(&stored))?;
                let misfit = |error| format!("the stored result of step {name:?}: {error}");
                return serde_json::from_value(json.value())
                    .map_err(|error| ToolError::Tool(misfit(error)));
            }
        };
        let ends = |error: &ToolError| error.fault() == Fault::Arguments || self.is_canceled();
        let result = retry.done(work, ends, async |millis| self.sleep(millis).await).await;
        let json = result.as_ref().map_err(ToolError::clone).and_then(|value| {
            let unfit = |error| format!("the result of step {name:?} is not JSON: {error}");
            Json::of(value).map_err(|error| ToolError::Tool(unfit(error)))
        });
        let misfit = json.as_ref().err().cloned();
        let outcome = json.map_err(|error| stored(&error));
        self.end_step(name, nth, outcome)?;
        misfit.map_or(result, Err)
    }
}

/// An error in its stored form: the fault and the reason.
fn stored(error: &ToolError) -> String {
    format!("{}: {}", error.fault().name(), error.text())
}

/// Reads a stored error. An error without a fault is an error of the task about the step.
fn recalled(stored: &str) -> ToolError {
    let error = stored
        .split_once(": ")
        .and_then(|(fault, text)| Fault::named(fault).map(|fault| fault.error(text.to_owned())));
    error.unwrap_or_else(|| ToolError::Tool(stored.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_error_still_says_who_is_at_fault() {
        for error in [
            ToolError::Arguments("a".to_owned()),
            ToolError::Tool("tool: b".to_owned()),
            ToolError::Upstream(String::new()),
        ] {
            assert_eq!(recalled(&stored(&error)), error);
        }
        assert_eq!(recalled("too large: 5"), ToolError::Tool("too large: 5".to_owned()));
    }
}
