//! The mark of a log entry: one character that is stored with the entry, and sent to followers before the entry.

use crate::task::LogEntry;
use a2a::model::TaskState;

/// The mark of an event, from which followers see if more events may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum Mark {
    /// More events may follow.
    Open,
    /// The task waits for input: the turn has ended, but not the task.
    InputRequired,
    /// The task has ended: this is the last event.
    Ended,
}

impl Mark {
    /// The mark of a state.
    pub(in crate::session) fn of(state: TaskState) -> Self {
        match state {
            TaskState::InputRequired => Self::InputRequired,
            TaskState::Completed
            | TaskState::Failed
            | TaskState::Canceled
            | TaskState::Rejected => Self::Ended,
            TaskState::Submitted | TaskState::Working | TaskState::AuthRequired => Self::Open,
        }
    }

    /// The stored mark of a log entry; [`NO_EVENT`] for an entry that is no event.
    pub(in crate::session) fn of_entry(entry: &LogEntry) -> char {
        match entry {
            LogEntry::Task(task) => Self::of(task.status.state).letter(),
            LogEntry::StatusUpdate(event) => Self::of(event.status.state).letter(),
            LogEntry::ArtifactUpdate(_) => Self::Open.letter(),
            LogEntry::Message(_)
            | LogEntry::Held(_)
            | LogEntry::Run(_)
            | LogEntry::Step(_)
            | LogEntry::Taken
            | LogEntry::Parked(_)
            | LogEntry::Woken(_)
            | LogEntry::Ended
            | LogEntry::Callback(_)
            | LogEntry::Called(_) => NO_EVENT,
        }
    }

    /// The character of the mark.
    pub(in crate::session) fn letter(self) -> char {
        match self {
            Self::Open => '.',
            Self::InputRequired => 'I',
            Self::Ended => 'T',
        }
    }
}

/// The character of an entry that is no event.
pub(in crate::session) const NO_EVENT: char = '-';
