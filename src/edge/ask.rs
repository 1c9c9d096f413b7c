//! What a task object is asked, and the form in which it travels.
//!
//! Both sides may be of different versions during a deploy. Neither the heads of requests nor the statuses of refusals
//! change their meaning; bodies are as `command.rs` says.

use std::fmt;

use super::answer::to_text;
use super::callback::CallbackPost;
use super::command::Command;
use crate::push::NextNotification;
use a2a::binding::http::HttpResponse;
use a2a::model::decode::read_json;
use a2a::model::encode;

/// What an object is asked. `objects.rs` sends it, the object carries it out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ask {
    /// A call of a client. Answered by the finished HTTP response for the client, of a status below 500.
    Call(Box<Command>),
    /// A socket for a follower. Answered by the socket. `js/stream.js` asks this.
    Follow(Upgrade),
    /// The next notification of a webhook. Answered by a `NotificationTurn`, with status 200.
    NextNotification(NextNotification),
    /// To take what was posted to a callback, or to say whether it would. Answered by the finished HTTP response for its sender, of a
    /// status below 500.
    CallBack(Box<CallbackPost>),
    /// To delete the task if it is finished. Answered by status 204. Asked by the clean-up of version 0.2.0 and before.
    Delete,
    /// To delete the task if it is finished, all but its row in the index, which the asker takes out. Answered by status 204.
    Clear,
}

impl Ask {
    /// The form in which it travels.
    pub(super) fn form(&self) -> Form {
        match self {
            Self::Call(_) => Form::Call,
            Self::Follow(_) => Form::Follow,
            Self::NextNotification(_) => Form::NextNotification,
            Self::CallBack(_) => Form::CallBack,
            Self::Delete => Form::Delete,
            Self::Clear => Form::Clear,
        }
    }

    /// The body of the request that carries it.
    ///
    /// # Errors
    ///
    /// When it cannot be encoded.
    pub(super) fn into_body(self) -> serde_json::Result<Option<String>> {
        match self {
            Self::Call(command) => encode(&*command).map(Some),
            Self::NextNotification(asked) => serde_json::to_string(&asked).map(Some),
            Self::CallBack(post) => encode(&*post).map(Some),
            Self::Follow(_) | Self::Delete | Self::Clear => Ok(None),
        }
    }

    /// Reads what came in this form, if it is an upgrade with this head.
    ///
    /// # Errors
    ///
    /// When the body is none of this version.
    pub(super) fn read(form: Form, upgrade: Upgrade, body: &str) -> serde_json::Result<Self> {
        match form {
            Form::Call => read_json(body).map(Box::new).map(Self::Call),
            Form::Follow => Ok(Self::Follow(upgrade)),
            Form::NextNotification => read_json(body).map(Self::NextNotification),
            Form::CallBack => read_json(body).map(Box::new).map(Self::CallBack),
            Form::Delete => Ok(Self::Delete),
            Form::Clear => Ok(Self::Clear),
        }
    }
}

/// What the head of an upgrade says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Upgrade {
    /// What the follower wants, a [`StreamCommand`](super::command::StreamCommand). One that is too long for a header is
    /// the first message over the socket.
    pub(super) hello: Option<String>,
    /// Whether nobody has asked the object anything before.
    pub(super) begins: bool,
}

impl Upgrade {
    /// Reads the path of an upgrade, and its header [`HELLO`].
    pub(super) fn read(path: &str, hello: Option<String>) -> Self {
        Self { hello, begins: path == BEGIN_PATH }
    }
}

/// The forms of [`Ask`]: what the head of a request tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A POST with a [`Command`].
    Call,
    /// An upgrade to a WebSocket, without a body.
    Follow,
    /// A POST with a [`NextNotification`], at a path of its own.
    NextNotification,
    /// A POST with a [`CallbackPost`], at a path of its own. Objects of earlier versions take it for a [`Call`](Self::Call) that
    /// they cannot read.
    CallBack,
    /// A DELETE, without a body.
    Delete,
    /// A DELETE at a path of its own, without a body. Objects of earlier versions take it for [`Delete`](Self::Delete).
    Clear,
}

impl Form {
    /// The form of a request with this head.
    pub(super) fn of(method: &str, path: &str, is_upgrade: bool) -> Self {
        match (method, path) {
            _ if is_upgrade => Self::Follow,
            ("DELETE", STORAGE_PATH) => Self::Clear,
            ("DELETE", _) => Self::Delete,
            (_, WEBHOOK_PATH) => Self::NextNotification,
            (_, CALLBACK_PATH) => Self::CallBack,
            (_, _) => Self::Call,
        }
    }

    /// The method of a request in this form.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Call | Self::NextNotification | Self::CallBack => "POST",
            Self::Follow => "GET",
            Self::Delete | Self::Clear => "DELETE",
        }
    }

    /// The path of a request in this form.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::NextNotification => WEBHOOK_PATH,
            Self::CallBack => CALLBACK_PATH,
            Self::Clear => STORAGE_PATH,
            Self::Call | Self::Follow | Self::Delete => "/",
        }
    }

    /// Whether a request in this form has a body.
    pub(super) fn has_body(self) -> bool {
        matches!(self, Self::Call | Self::NextNotification | Self::CallBack)
    }
}

/// The header of an upgrade with what the follower wants. An answer that has it, too, says that it was read: a version
/// that does not know it waits for a message.
pub(super) const HELLO: &str = "x-hello";

/// Where an object takes an upgrade if nobody has asked it anything before. Versions that do not know it take all
/// upgrades alike.
const BEGIN_PATH: &str = "/begin";

/// Where an object takes what senders ask.
const WEBHOOK_PATH: &str = "/webhook";

/// Where an object takes what was posted to callbacks.
const CALLBACK_PATH: &str = "/callback";

/// What an object clears for the clean-up.
const STORAGE_PATH: &str = "/storage";

/// Why an object does not do what it was asked, apart from what it tells the client of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
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
    pub(super) fn status(self) -> u16 {
        match self {
            Self::Unreadable => 501,
            Self::TooManyFollowers(_) => 429,
            Self::NotDeleted => 409,
            Self::Failed(status) => status,
        }
    }

    /// The answer as text, to what was asked by text.
    pub(super) fn to_text(self) -> String {
        to_text(&HttpResponse::empty(self.status()))
    }

    /// The header of the answer that tells the limit which was reached.
    pub(super) fn limit(self) -> Option<(&'static str, usize)> {
        match self {
            Self::TooManyFollowers(limit) => Some((LIMIT, limit)),
            Self::Unreadable | Self::NotDeleted | Self::Failed(_) => None,
        }
    }

    /// The refusal that an answer is, if it is one. That of a socket is read by `js/stream.js`.
    pub(super) fn read(form: Form, status: u16) -> Option<Self> {
        match (form, status) {
            (_, 501) => Some(Self::Unreadable),
            (_, 500..) => Some(Self::Failed(status)),
            // What a call or a callback is answered below 500 is for the client.
            (Form::Call | Form::CallBack, _) => None,
            // Objects of version 0.1.0 answer 400.
            (Form::NextNotification, 400) => Some(Self::Unreadable),
            (Form::Delete | Form::Clear, 409) => Some(Self::NotDeleted),
            (Form::Follow | Form::NextNotification | Form::Delete | Form::Clear, _) => None,
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
    use crate::auth::Caller;
    use crate::push::Report;
    use a2a::TaskCall;
    use a2a::binding::{MediaType, Reply};
    use a2a::model::{GetTaskRequest, Part, Secret, TaskId};

    fn every_ask() -> [Ask; 6] {
        let request = GetTaskRequest { tenant: None, id: TaskId::new("t"), history_length: None };
        let (call, reply) = (TaskCall::GetTask(request), Reply::rest(MediaType::Json));
        let command = Command::new("a".to_owned(), Caller::anonymous(), reply, call);
        let report = Report { generation: 3, at: 5, status: Some(204), ..Report::default() };
        let asked = NextNotification {
            config_id: "c".to_owned(),
            lease: Some("l".to_owned()),
            report: Some(report),
            leaves: true,
        };
        let follow = Ask::Follow(Upgrade::read("/", Some("{}".to_owned())));
        let (call, next) = (Ask::Call(Box::new(command)), Ask::NextNotification(asked));
        let post = CallbackPost {
            agent: "a".to_owned(),
            token: Secret::new("t"),
            key: Some("k".to_owned()),
            body: Some(Part::raw(b"\xff", "image/png")),
        };
        [call, follow, next, Ask::Delete, Ask::Clear, Ask::CallBack(Box::new(post))]
    }

    #[test]
    fn what_an_object_is_asked_is_read_as_it_was_sent() {
        for ask in every_ask() {
            let form = ask.form();
            let head = Form::of(form.method(), form.path(), form == Form::Follow);
            assert_eq!(head, form, "the head of a request tells its form");
            let body = ask.clone().into_body().unwrap();
            assert_eq!(body.is_some(), form.has_body(), "{form:?}");
            let upgrade = match &ask {
                Ask::Follow(upgrade) => upgrade.clone(),
                _ => Upgrade::default(),
            };
            assert_eq!(Ask::read(form, upgrade, &body.unwrap_or_default()).unwrap(), ask);
        }
    }

    #[test]
    fn a_callback_is_asked_about_by_a_post_without_a_body() {
        let (agent, token) = ("a".to_owned(), Secret::new("t"));
        let asked = CallbackPost { agent, token, key: None, body: None };
        let body = Ask::CallBack(Box::new(asked.clone())).into_body().unwrap().unwrap();
        assert_eq!(body, r#"{"agent":"a","token":"t"}"#);
        let read = Ask::read(Form::CallBack, Upgrade::default(), &body).unwrap();
        assert_eq!(read, Ask::CallBack(Box::new(asked)));
        let wrong = r#"{"agent":"a","token":"t","body":{"text":1}}"#;
        assert!(Ask::read(Form::CallBack, Upgrade::default(), wrong).is_err());
    }

    #[test]
    fn an_upgrade_says_whether_it_is_the_first_thing_that_an_object_is_asked() {
        for (path, begins) in [("/", false), ("/begin", true), ("/other", false)] {
            assert_eq!(Form::of("GET", path, true), Form::Follow);
            assert_eq!(Upgrade::read(path, None), Upgrade { hello: None, begins });
        }
    }

    #[test]
    fn the_heads_of_requests_are_those_of_earlier_versions() {
        let heads = every_ask().map(|ask| (ask.form().method(), ask.form().path()));
        let known = [("POST", "/"), ("GET", "/"), ("POST", "/webhook"), ("DELETE", "/")];
        assert_eq!(heads[..4], known);
        assert_eq!(heads[4..], [("DELETE", "/storage"), ("POST", "/callback")]);
    }

    #[test]
    fn a_body_that_cannot_be_read_is_an_error() {
        for form in [Form::Call, Form::NextNotification, Form::CallBack] {
            for body in ["", "{}", "[]", "{"] {
                assert!(Ask::read(form, Upgrade::default(), body).is_err(), "{form:?} {body}");
            }
        }
    }

    #[test]
    fn refusals_are_read_as_they_were_answered() {
        for (form, refusal) in [
            (Form::Call, Refusal::Unreadable),
            (Form::Call, Refusal::Failed(500)),
            (Form::CallBack, Refusal::Unreadable),
            (Form::CallBack, Refusal::Failed(500)),
            (Form::NextNotification, Refusal::Unreadable),
            (Form::Delete, Refusal::NotDeleted),
            (Form::Clear, Refusal::NotDeleted),
        ] {
            assert_eq!(Refusal::read(form, refusal.status()), Some(refusal));
        }
    }

    #[test]
    fn answers_for_clients_are_no_refusals() {
        for (form, status) in [
            (Form::Call, 200),
            (Form::Call, 400),
            (Form::Call, 409),
            (Form::Call, 429),
            (Form::CallBack, 202),
            (Form::CallBack, 404),
            (Form::Follow, 101),
            (Form::NextNotification, 200),
            (Form::Delete, 204),
            (Form::Clear, 204),
        ] {
            assert_eq!(Refusal::read(form, status), None, "{form:?} {status}");
        }
    }

    #[test]
    fn refusals_of_version_0_1_0_are_read() {
        for (form, status, refusal) in [
            (Form::Call, 500, Refusal::Failed(500)),
            (Form::NextNotification, 400, Refusal::Unreadable),
            (Form::NextNotification, 500, Refusal::Failed(500)),
        ] {
            assert_eq!(Refusal::read(form, status), Some(refusal), "{form:?} {status}");
        }
    }
}
