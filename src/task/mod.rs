//! The life of a task as a state machine: `(input, now) -> effects`. No I/O, no clock, nothing waits.
//!
//! A task *is* its event log: [`TaskMachine::replay`] of the log gives the task as it stands, and
//! [`TaskMachine::step`] changes it only through the entries that it asks to be appended.

mod machine;
mod transition;

pub use machine::{Effect, Input, NewTask, RunOutcome, TaskError, TaskMachine};
pub use transition::may_enter;

/// One entry of a task's log.
///
/// `Task` opens the log. `StatusUpdate` and `ArtifactUpdate` are events; these and the opening carry
/// the generations 1, 2, 3 … by their order. `Message` is a message of the client, kept for the
/// history: not an event, without a generation.
pub type LogEntry = crate::model::StreamResponse;

/// Whether an entry is an event, and so has a generation of its own.
pub fn is_event(entry: &LogEntry) -> bool {
    match entry {
        LogEntry::Task(_) | LogEntry::StatusUpdate(_) | LogEntry::ArtifactUpdate(_) => true,
        LogEntry::Message(_) => false,
    }
}
