//! The life of a task as a state machine: `(input, now) -> effects`. The machine does no I/O, reads no clock and never
//! waits.
//!
//! A task *is* its log: [`TaskMachine::replay`] makes the current task from the log, and [`TaskMachine::step`] changes
//! the task only by entries, which it returns to be appended. The events and the steps of an interrupted run are in the
//! log, too: [`Recall`] returns them to the run that resumes.

mod callback;
mod deadlines;
mod effect;
mod failed;
mod input;
mod log;
mod machine;
mod metadata;
mod park;
mod recall;
mod run;
mod transition;

pub use a2a_agents::Recovery;
pub use callback::{Admission, CallbackCall, CallbackName, CallbackRecord};
pub use deadlines::{Armed, DEBTS, Deadlines, Owed, Wants};
pub use effect::{Effect, Refusal, TaskError};
pub use failed::FAILED_STEPS;
pub use input::{Input, Loss, NewTask, Notice, RunOutcome};
pub use log::{HeldText, LogEntry, RunRequest, RunStart, StepInput, StepRecord};
pub use machine::{TaskMachine, timed_out};
pub use metadata::ATTEMPT;
pub(crate) use metadata::set_member;
pub use park::{Park, Unanswered, WaitEnd, WokenBy};
pub use recall::{Diverged, Recall, Said};
pub use transition::may_enter;
