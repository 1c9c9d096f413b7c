//! The legal transitions between states (spec §4.1.3).

use a2a::model::TaskState;

/// True if an agent may move a task from one state to another.
///
/// ```text
/// submitted ─> working <─> input required, auth required
///     └───────────┴─────────────────┴──> completed | failed | canceled | rejected   (final)
/// ```
///
/// Entering the same active or interrupted state again is legal: the status then has a new message.
pub fn may_enter(from: TaskState, to: TaskState) -> bool {
    match (from, to) {
        (
            TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected,
            _,
        ) => false,
        (_, TaskState::Submitted) => false,
        (
            TaskState::Submitted
            | TaskState::Working
            | TaskState::InputRequired
            | TaskState::AuthRequired,
            TaskState::Working
            | TaskState::InputRequired
            | TaskState::AuthRequired
            | TaskState::Completed
            | TaskState::Failed
            | TaskState::Canceled
            | TaskState::Rejected,
        ) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_states_lead_nowhere() {
        for from in TaskState::ALL.into_iter().filter(|state| state.is_terminal()) {
            for to in TaskState::ALL {
                assert!(!may_enter(from, to), "{from:?} -> {to:?}");
            }
        }
    }

    #[test]
    fn nothing_becomes_submitted_again() {
        for from in TaskState::ALL {
            assert!(!may_enter(from, TaskState::Submitted), "{from:?}");
        }
    }

    #[test]
    fn every_other_move_is_open_to_a_task_that_is_not_finished() {
        for from in TaskState::ALL.into_iter().filter(|state| !state.is_terminal()) {
            for to in TaskState::ALL.into_iter().filter(|state| *state != TaskState::Submitted) {
                assert!(may_enter(from, to), "{from:?} -> {to:?}");
            }
        }
    }
}
