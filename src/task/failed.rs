//! Counts the failed steps of a task.

use super::{StepRecord, set_member};
use a2a::model::Metadata;

/// The number of failed steps, of earlier turns and of the newest turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailedSteps {
    /// Of the turns before the newest one.
    before: u64,
    /// Of the newest turn.
    turn: u64,
}

impl FailedSteps {
    /// Begins a run that does not resume: of another turn, or of the newest turn again (`is_again`), whose count then restarts.
    pub(super) fn begin(&mut self, is_again: bool) {
        if !is_again {
            self.before += self.turn;
        }
        self.turn = 0;
    }

    /// Counts a step if it has failed. A step within a model's call does not count: the call itself counts, unless it recovered from the
    /// failure.
    pub(super) fn add(&mut self, step: &StepRecord) {
        self.turn += u64::from(step.has_failed() && !is_part_of_call(&step.name));
    }

    /// The number of failed steps.
    pub(super) fn count(self) -> u64 {
        self.before + self.turn
    }

    /// Sets the member of the metadata; removes it if no step has failed.
    pub(super) fn note(self, metadata: &mut Option<Metadata>) {
        let count = Some(self.count()).filter(|count| *count > 0);
        set_member(metadata, FAILED_STEPS, count.map(Into::into));
    }
}

/// True if a step of this name is part of a model's call: `2.1/reserve`, or `agent 2.1 travel`.
fn is_part_of_call(name: &str) -> bool {
    let call = match name.strip_prefix("agent ") {
        Some(rest) => rest.split_once(' '),
        None => name.split_once('/'),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let places = call.and_then(|(call, _)| call.split_once('.'));
    places.is_some_and(|(round, index)| is_number(round) && is_number(index))
}

/// The member of a task's metadata with the number of its failed steps.
pub const FAILED_STEPS: &str = "urn:a2a-edge:failed-steps";

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::Json;
    use serde_json::json;

    fn step(name: &str, outcome: Result<Json, String>, failed: bool) -> StepRecord {
        StepRecord {
            name: name.to_owned(),
            nth: 1,
            outcome,
            usage: None,
            failed,
            duration_ms: None,
            input: None,
        }
    }

    #[test]
    fn a_failure_counts_once_whatever_parts_a_call_has() {
        let told = || Ok(Json::from(&json!({"tool": "pay", "result": "error: no"})));
        let no = || Err("no".to_owned());
        for (step, expected) in [
            (step("1.1", told(), true), 1),
            (step("1.1", told(), false), 0),
            (step("1.1", no(), false), 1),
            (step("1.1/request", no(), false), 0),
            (step("agent 1.1 travel", no(), false), 0),
            // A failed call that a message requests has no step of its own, so its inner step is counted.
            (step("1/request", no(), false), 1),
            (step("publish", no(), false), 1),
            (step("agent x", no(), false), 1),
            (step("v1.x/read", no(), false), 1),
        ] {
            let mut failed = FailedSteps::default();
            failed.add(&step);
            assert_eq!(failed.count(), expected, "{step:?}");
        }
    }

    #[test]
    fn a_turn_that_is_done_anew_counts_its_steps_anew() {
        let mut failed = FailedSteps::default();
        let no = step("ask", Err("no".to_owned()), false);
        failed.begin(false);
        failed.add(&no);
        failed.begin(true);
        assert_eq!(failed.count(), 0);
        failed.add(&no);
        failed.begin(false);
        failed.add(&no);
        assert_eq!(failed.count(), 2);
        let mut metadata = None;
        failed.note(&mut metadata);
        assert_eq!(serde_json::to_value(&metadata).unwrap(), json!({FAILED_STEPS: 2}));
        FailedSteps::default().note(&mut metadata);
        assert_eq!(metadata, None);
    }
}
