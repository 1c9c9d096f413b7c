//! The reasons why the object of a task returned no answer, and the error for its client.

use super::report::Report;
use super::seen::Seen;
use crate::format;
use crate::forms::ask::{Form, Refusal};
use a2a::error::Error;
use a2a::model::TaskId;

/// The reason why an object returned no answer for a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// No such object exists: the Worker never created this id.
    Unknown,
    /// The object and this program have different versions, and one of them cannot read the data of the other. A retry
    /// can succeed after some time.
    OtherVersion(String),
    /// The object did not answer, or not in the form of an object's answer, for this reason.
    Unreachable(String),
}

impl Failure {
    /// The failure for the status that arrived instead of an answer: 404 if the namespace does not know the object, 0
    /// if nothing arrived, else the status of the object. `reason` is used for 0.
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

    /// The error for the client of a call. `task` is the task of the call; `None` for a new task.
    pub(super) fn error(&self, task: Option<&TaskId>, seen: &mut Seen) -> Error {
        match (self, task) {
            (Self::Unknown, Some(task)) => Error::TaskNotFound(task.clone()),
            (Self::Unknown | Self::OtherVersion(_) | Self::Unreachable(_), task) => {
                self.unreachable(task, seen)
            }
        }
    }

    /// The error for an object that does not answer as expected. The failure is reported.
    pub(super) fn unreachable(&self, task: Option<&TaskId>, seen: &mut Seen) -> Error {
        let reason = self.reason().to_owned();
        seen.report(Report::ObjectUnreachable(task.cloned(), reason));
        match self {
            Self::OtherVersion(_) => Error::Unavailable(format::OTHER_VERSION),
            Self::Unknown | Self::Unreachable(_) => Error::Internal { task: None },
        }
    }
}
