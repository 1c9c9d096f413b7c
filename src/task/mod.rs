//! The life of a task as a state machine: `(input, now) -> effects`. No I/O, no clock, nothing waits.
//!
//! A task *is* its log: [`TaskMachine::replay`] of the log gives the task as it stands, and
//! [`TaskMachine::step`] changes it only through the entries that it asks to be appended. What an
//! interrupted run had said and done is in the log, too: [`Recall`] gives it to the run that resumes.

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
pub use effect::{Effect, TaskError};
pub use failed::FAILED_STEPS;
pub use input::{Input, Loss, NewTask, RunOutcome};
pub use log::{HeldText, LogEntry, RunRequest, RunStart, StepRecord};
pub use machine::{TaskMachine, timed_out};
pub use metadata::ATTEMPT;
pub(crate) use metadata::set_member;
pub use park::{Park, Unanswered, WaitEnd, WokenBy};
pub use recall::{Diverged, Recall, Said};
pub use transition::may_enter;
