//! Why the object of a task gave no answer, and the error for its client.

use super::report::Report;
use super::seen::Seen;
use crate::format;
use crate::forms::ask::{Form, Refusal};
use a2a::error::Error;
use a2a::model::TaskId;

/// Why an object gave no answer for a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// There is no such object: its id was never given out.
    Unknown,
    /// The object and this program are of versions of which one cannot read the other: asking again helps, but not at once.
    OtherVersion(String),
    /// It did not answer, or not as objects do, for this reason.
    Unreachable(String),
}

impl Failure {
    /// Why there is no answer for the client: the status that an object gave instead of one, 404 for one that the
    /// namespace does not know, and 0 if nothing came, for this reason.
    pub(crate) fn of_status(status: u16, reason: &str) -> Self {
        match status {
            0 => Self::Unreachable(reason.to_owned()),
            404 => Self::Unknown,
            status => match Refusal::read(Form::Call, status) {
                Some(refusal @ Refusal::Unreadable) => Self::OtherVersion(refusal.to_string()),
                Some(refusal) => Self::Unreachable(refusal.to_string()),
                None => Self::Unreachable(Refusal::Failed(status).to_string()),
            },
        }
    }

    /// The reason, for the log.
    fn reason(&self) -> &str {
        match self {
            Self::Unknown => "there is no object of this id",
            Self::OtherVersion(reason) | Self::Unreachable(reason) => reason,
        }
    }

    /// The error for the client of a call about this task, or a new one.
    pub(super) fn error(&self, task: Option<&TaskId>, seen: &mut Seen) -> Error {
        match (self, task) {
            (Self::Unknown, Some(task)) => Error::TaskNotFound(task.clone()),
            (Self::Unknown | Self::OtherVersion(_) | Self::Unreachable(_), task) => {
                self.unreachable(task, seen)
            }
        }
    }

    /// The error for an object that does not answer as objects do, which is reported.
    pub(super) fn unreachable(&self, task: Option<&TaskId>, seen: &mut Seen) -> Error {
        let reason = self.reason().to_owned();
        seen.report(Report::ObjectUnreachable(task.cloned(), reason));
        match self {
            Self::OtherVersion(_) => Error::Unavailable(format::OTHER_VERSION),
            Self::Unknown | Self::Unreachable(_) => Error::Internal { task: None },
        }
    }
}
