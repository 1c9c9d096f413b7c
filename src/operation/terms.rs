//! On what terms a call is made: what counts for it besides its parameters.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TaskSession;
use crate::error::Error;

/// The terms of a call. Those that do not concern its operation are not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Value")]
pub struct Terms {
    /// The generation that the task must be at for a message or a cancel to be taken
    /// (`If-Generation-Match`).
    pub expected: Option<u64>,
    /// The generation after which GetTask answers, waiting for it (`After-Generation`).
    pub after: Option<u64>,
    /// How long GetTask waits at most, in milliseconds (`Prefer: wait`); never longer than a blocking
    /// send.
    pub wait_ms: Option<u64>,
    /// How long the run that a send begins may take, in milliseconds, if less than the agent's runs may
    /// (`Run-Timeout-Ms`).
    pub run_timeout_ms: Option<u64>,
    /// Whether the metadata of tasks is to tell their generation.
    pub shows_generation: bool,
    /// Set if the caller has as many unfinished tasks as it may have, so many: this call must begin no
    /// further one.
    pub quota: Option<u64>,
}

/// By hand, since what serde derives for as little as this weighs 1 KB. What is missing is not set.
impl From<Value> for Terms {
    fn from(terms: Value) -> Self {
        let number = |name| terms.get(name).and_then(Value::as_u64);
        Self {
            expected: number("expected"),
            after: number("after"),
            wait_ms: number("wait_ms"),
            run_timeout_ms: number("run_timeout_ms"),
            shows_generation: terms.get("shows_generation").and_then(Value::as_bool) == Some(true),
            quota: number("quota"),
        }
    }
}

impl Terms {
    /// Whether the task is at the generation that the caller expects, if it expects any.
    ///
    /// # Errors
    ///
    /// [`Error::GenerationMismatch`] otherwise.
    pub(super) fn check_generation(&self, session: &TaskSession) -> Result<(), Error> {
        let generation = session.generation();
        match self.expected {
            Some(expected) if expected != generation => {
                Err(Error::GenerationMismatch { id: session.id().clone(), expected, generation })
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_survive_the_way_to_the_object() {
        let all = Terms {
            expected: Some(1),
            after: Some(u64::MAX),
            wait_ms: Some(3),
            run_timeout_ms: Some(5),
            shows_generation: true,
            quota: Some(4),
        };
        for terms in [all, Terms::default()] {
            let text = serde_json::to_string(&terms).expect("plain data");
            assert_eq!(serde_json::from_str::<Terms>(&text).expect("plain data"), terms);
        }
        assert_eq!(serde_json::from_str::<Terms>("{}").expect("plain data"), Terms::default());
    }
}
