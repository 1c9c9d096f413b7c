//! What a task object is asked, and how it refuses.
//!
//! Both sides may be of different versions during a deploy. Neither the names of forms nor the statuses of refusals
//! change their meaning; texts are as `command.rs` says.

use std::fmt;

use super::answer::to_text;
use a2a::binding::http::HttpResponse;

/// The kinds of requests that the method `ask` of an object answers. Each names the text that comes with it. A follower opens a
/// socket instead, by an upgrade ([`Upgrade`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A [`Command`](super::command::Command), the first thing that the object is asked. Answered as [`Call`](Self::Call).
    Begin,
    /// A [`Command`](super::command::Command). Answered by the finished HTTP response for the client, of a status below 500.
    Call,
    /// A [`NextNotification`](crate::push::NextNotification). Answered by a `NotificationTurn`, with status 200.
    NextNotification,
    /// A [`CallbackPost`](super::callback::CallbackPost): to take it, or without a body to tell whether it would. Answered by the
    /// finished HTTP response for its sender, of a status below 500.
    CallBack,
    /// To delete the task if it is finished, all but its row in the index, which the asker deletes. Without a text. Answered by
    /// status 204.
    Clear,
}

impl Form {
    const ALL: [Self; 5] =
        [Self::Begin, Self::Call, Self::NextNotification, Self::CallBack, Self::Clear];

    /// Its name, which `js/hop.js` uses, too.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Call => "call",
            Self::NextNotification => "notification",
            Self::CallBack => "callback",
            Self::Clear => "clear",
        }
    }

    /// The form of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// What the head of an upgrade says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Upgrade {
    /// What the follower wants, a [`StreamCommand`](super::command::StreamCommand). One that is too long for a header is
    /// the first message over the socket.
    pub(crate) hello: Option<String>,
    /// Whether nobody has asked the object anything before.
    pub(crate) begins: bool,
}

impl Upgrade {
    /// Reads the path of an upgrade, and its header [`HELLO`].
    pub(crate) fn read(path: &str, hello: Option<String>) -> Self {
        Self { hello, begins: path == BEGIN_PATH }
    }
}

/// The header of an upgrade with what the follower wants. An answer that has it, too, says that it was read: a version
/// that does not know it waits for a message.
pub(crate) const HELLO: &str = "x-hello";

/// Where an object takes an upgrade if nobody has asked it anything before. Versions that do not know it take all
/// upgrades alike.
const BEGIN_PATH: &str = "/begin";

/// Why an object does not do what it was asked, apart from what it tells the client of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It cannot read the command, or its task: another version can, and will in a moment or after the next
    /// deploy.
    Unreadable,
    /// The task has reached the limit of followers, which is this.
    TooManyFollowers(usize),
    /// The task is not finished, or cannot be deleted now.
    NotDeleted,
    /// It failed, with this status of 500 or more.
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

    /// The answer as text, to what was asked by text.
    pub(crate) fn to_text(self) -> String {
        to_text(&HttpResponse::empty(self.status()))
    }

    /// The header of the answer that tells the limit which was reached.
    pub(crate) fn limit(self) -> Option<(&'static str, usize)> {
        match self {
            Self::TooManyFollowers(limit) => Some((LIMIT, limit)),
            Self::Unreadable | Self::NotDeleted | Self::Failed(_) => None,
        }
    }

    /// The refusal that an answer is, if it is one. That of a socket is read by `js/stream.js`.
    pub(crate) fn read(form: Form, status: u16) -> Option<Self> {
        match (form, status) {
            (_, 501) => Some(Self::Unreadable),
            (_, 500..) => Some(Self::Failed(status)),
            (Form::Clear, 409) => Some(Self::NotDeleted),
            // What a call or a callback is answered below 500 is for the client.
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

/// The header that tells how many followers a task may have.
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
        ] {
            assert_eq!(Refusal::read(form, status), None, "{form:?} {status}");
        }
    }
}
