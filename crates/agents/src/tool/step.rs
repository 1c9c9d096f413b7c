//! Durable steps of a call: what is done is not done again.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Fault, StepStart, ToolCall, ToolError};
use a2a::model::{Json, doubled};

/// How often a step is tried, and how long is waited in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often at most, the first time included; 0 counts as 1.
    pub attempts: u32,
    /// The time before the second attempt, in milliseconds; it doubles from attempt to attempt.
    pub delay_ms: u64,
    /// The longest time between two attempts, in milliseconds.
    pub max_delay_ms: u64,
}

impl Retry {
    /// Tries once.
    pub const NEVER: Self = Self { attempts: 1, delay_ms: 0, max_delay_ms: 0 };

    /// Tries `attempts` times, with one second in between at first and 30 at most.
    pub const fn times(attempts: u32) -> Self {
        Self { attempts, delay_ms: 1_000, max_delay_ms: 30_000 }
    }

    /// How long to wait after this many failures, counted from 1, in milliseconds.
    pub fn delay_after(self, failures: u32) -> u64 {
        doubled(self.delay_ms, failures, self.max_delay_ms)
    }

    /// Does `work` until it succeeds, has failed `attempts` times, or `ends` says that its error is final. In between,
    /// `sleep` waits for a number of milliseconds.
    ///
    /// # Errors
    ///
    /// The last one of `work`.
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
    /// Does something once: its result, or its error, is stored, and is what a call that goes on after a crash or a
    /// deploy gets instead of doing it again. Only a step that was interrupted in the middle is done again.
    ///
    /// A step is known by its `name` (1 to 240 bytes); of several with one name in a call, the first is the first
    /// again. What differs from run to run (answers of others, time, chance) and decides which step comes next belongs
    /// into a step itself.
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
    /// What `work` fails with; if the result is larger than `MAX_STEP_BYTES`, or a run has more than `MAX_STEPS`
    /// steps; if the caller has canceled the call.
    pub async fn step<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        work: impl AsyncFn() -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        self.step_with(name, Retry::NEVER, work).await
    }

    /// As [`step`](trait.ToolCall.html#method.step), and tries again when `work` fails, unless the arguments are at fault. Attempts count
    /// anew if the call is interrupted meanwhile.
    ///
    /// # Errors
    ///
    /// As [`step`](trait.ToolCall.html#method.step), with the last error of `work`.
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
            let unfit = |error| format!("the result of step {name:?} is no JSON: {error}");
            serde_json::to_value(value).map_err(|error| ToolError::Tool(unfit(error)))
        });
        let misfit = json.as_ref().err().cloned();
        let outcome = json.map(|json| Json::from(&json)).map_err(|error| stored(&error));
        self.end_step(name, nth, outcome)?;
        misfit.map_or(result, Err)
    }
}

/// An error as it is stored: who is at fault, and why.
fn stored(error: &ToolError) -> String {
    format!("{}: {}", error.fault().name(), error.text())
}

/// A stored error. One without a fault is what the task said about the step.
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
