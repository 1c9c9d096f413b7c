//! The requests to a task object, and its refusals.
//!
//! Both sides may run different versions during a deploy. The names of forms and the statuses of refusals never change their
//! meaning; `command.rs` describes how texts may change.

use std::fmt;

use super::answer::to_text;
use a2a::binding::http::HttpResponse;

/// The kinds of requests that the method `ask` of an object answers. Each kind defines the text of its requests. A follower opens
/// a socket instead, by an upgrade ([`Upgrade`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A [`Command`](super::command::Command) to a new object, its first request. Answered like [`Call`](Self::Call).
    Begin,
    /// A [`Command`](super::command::Command). Answered by the finished HTTP response for the client, with a status below 500.
    Call,
    /// A [`NextNotification`](crate::push::NextNotification). Answered by a `NotificationTurn`, with status 200.
    NextNotification,
    /// A [`CallbackPost`](super::callback::CallbackPost): a request to accept it, or without a body to report if it would be
    /// accepted. Answered by the finished HTTP response for its sender, with a status below 500.
    CallBack,
    /// A request to delete the task if it is finished, except for its row in the index, which the caller deletes. No text.
    /// Answered by status 204.
    Clear,
    /// A request to open the task, in development: an interrupted run then resumes. No text. Answered by status 204.
    Open,
}

impl Form {
    const ALL: [Self; 6] =
        [Self::Begin, Self::Call, Self::NextNotification, Self::CallBack, Self::Clear, Self::Open];

    /// The name, which `js/hop.js` also uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Call => "call",
            Self::NextNotification => "notification",
            Self::CallBack => "callback",
            Self::Clear => "clear",
            Self::Open => "open",
        }
    }

    /// The form with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// The contents of an upgrade's head.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Upgrade {
    /// The request of the follower, a [`StreamCommand`](super::command::StreamCommand). If it is too long for a header, it is the
    /// first message over the socket instead.
    pub(crate) hello: Option<String>,
    /// True if this is the first request to the object.
    pub(crate) begins: bool,
}

impl Upgrade {
    /// Reads the path of an upgrade, and its header [`HELLO`].
    pub(crate) fn read(path: &str, hello: Option<String>) -> Self {
        Self { hello, begins: path == BEGIN_PATH }
    }
}

/// The header of an upgrade with the request of the follower. The answer has it with the first frame ([`in_header`]), and empty if
/// that comes over the socket. An older version does not know the header: its answer has none, and it waits for a message.
pub(crate) const HELLO: &str = "x-follow";

/// A frame as the value of the header [`HELLO`], with tabs in place of line feeds; `None` if a header cannot carry it: if it is longer
/// than 8 KiB, has other than printable ASCII characters and line feeds, or ends with a line feed.
pub(crate) fn in_header(frame: &str) -> Option<String> {
    let is_fit = |byte: u8| matches!(byte, b'\n' | b' '..=b'~');
    let fits =
        frame.len() <= MAX_HEADER_BYTES && !frame.ends_with('\n') && frame.bytes().all(is_fit);
    fits.then(|| frame.replace('\n', "\t"))
}

const MAX_HEADER_BYTES: usize = 8 * 1024;

/// The path of an upgrade that is the first request to the object. Older versions treat all paths alike.
const BEGIN_PATH: &str = "/begin";

/// The reason why an object refuses a request. An error for the client of a call is not a refusal: the object returns it as an
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The object cannot read the command, or its task. Another version can: after a moment, or after the next deploy.
    Unreadable,
    /// The task has reached the limit of followers, which is this number.
    TooManyFollowers(usize),
    /// The task is not finished, or cannot be deleted now.
    NotDeleted,
    /// The object failed, with this status of 500 or more.
    Failed(u16),
}

impl Refusal {
    /// The status of the answer.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Unreadable => 501,
            Self::TooManyFollowers(_) => 429,
            Self::NotDeleted => 409,
            Self::Failed(status) => status,
        }
    }

    /// The refusal in the text form of answers.
    pub(crate) fn to_text(self) -> String {
        to_text(&HttpResponse::empty(self.status()))
    }

    /// The header of the answer with the limit that was reached.
    pub(crate) fn limit(self) -> Option<(&'static str, usize)> {
        match self {
            Self::TooManyFollowers(limit) => Some((LIMIT, limit)),
            Self::Unreadable | Self::NotDeleted | Self::Failed(_) => None,
        }
    }

    /// The refusal in an answer of this status, if the answer is a refusal. The refusal of a socket is read by `js/stream.js`.
    pub(crate) fn read(form: Form, status: u16) -> Option<Self> {
        match (form, status) {
            (_, 501) => Some(Self::Unreadable),
            (_, 500..) => Some(Self::Failed(status)),
            (Form::Clear, 409) => Some(Self::NotDeleted),
            // An answer below 500 to a call or a callback is for the client.
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => out.write_str("it cannot read the command, or its task"),
            Self::TooManyFollowers(limit) => write!(out, "it has {limit} followers already"),
            Self::NotDeleted => out.write_str("its task is not finished, or cannot be deleted now"),
            Self::Failed(status) => write!(out, "it answered {status}"),
        }
    }
}

/// The header with the largest number of followers of a task.
const LIMIT: &str = "x-limit";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_found_by_its_name() {
        for form in Form::ALL {
            assert_eq!(Form::named(form.name()), Some(form));
        }
        assert_eq!(Form::named("delete"), None);
    }

    #[test]
    fn an_upgrade_says_whether_it_is_the_first_thing_that_an_object_is_asked() {
        for (path, begins) in [("/", false), ("/begin", true), ("/other", false)] {
            assert_eq!(Upgrade::read(path, None), Upgrade { hello: None, begins });
        }
    }

    #[test]
    fn a_frame_is_a_header_where_a_header_can_carry_it() {
        for (frame, header) in [
            ("E1\n.{\"a b\":\"~\"}\nT{}", Some("E1\t.{\"a b\":\"~\"}\tT{}")),
            ("X404\n{}", Some("X404\t{}")),
            ("R\n", None),
            ("S1\n.{\"a\tb\":1}", None),
            ("S1\n.{\"\u{e4}\":1}", None),
            ("S1\n.\u{7f}", None),
        ] {
            assert_eq!(in_header(frame).as_deref(), header, "{frame}");
        }
        let of_length = |length: usize| format!("S1\n.{}", "x".repeat(length - 4));
        assert!(in_header(&of_length(MAX_HEADER_BYTES)).is_some());
        assert_eq!(in_header(&of_length(MAX_HEADER_BYTES + 1)), None);
    }

    #[test]
    fn refusals_are_read_as_they_were_answered() {
        for form in Form::ALL {
            for refusal in [Refusal::Unreadable, Refusal::Failed(500)] {
                assert_eq!(Refusal::read(form, refusal.status()), Some(refusal), "{form:?}");
            }
        }
        assert_eq!(Refusal::read(Form::Clear, 409), Some(Refusal::NotDeleted));
    }

    #[test]
    fn answers_for_clients_are_no_refusals() {
        for (form, status) in [
            (Form::Begin, 429),
            (Form::Call, 200),
            (Form::Call, 400),
            (Form::Call, 409),
            (Form::CallBack, 202),
            (Form::CallBack, 404),
            (Form::NextNotification, 200),
            (Form::Clear, 204),
            (Form::Open, 204),
        ] {
            assert_eq!(Refusal::read(form, status), None, "{form:?} {status}");
        }
    }
}
