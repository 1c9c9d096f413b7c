//! The objects of tasks, as seen by the Rust code that asks them: the queues, lists with artifacts, posts to callbacks before
//! their body is received. `js/hop.js` asks them for clients, by the same method, and `js/stream.js` opens the sockets of
//! followers.

use std::fmt;

use wasm_bindgen::prelude::*;
use worker::Env;

use super::bindings;
use crate::forms::address::{ObjectId, TaskAddress};
use crate::forms::ask::{Form, Refusal};
use crate::forms::callback::CallbackPost;
use crate::forms::command::Command;
use crate::push::{NextNotification, NotificationTurn};
use a2a::model::decode::read_json;
use a2a::model::encode;

/// The object of one task, which may not be in memory and may hold no task yet.
#[derive(Clone)]
pub(super) struct Object {
    env: Env,
    id: ObjectId,
}

impl Object {
    /// The object at an address. It is not asked anything yet, and none is made.
    ///
    /// # Errors
    ///
    /// [`AskError::Unknown`] for an id that was never given out: the namespace knows its own ids.
    pub(super) fn at(env: &Env, address: &TaskAddress) -> Result<Self, AskError> {
        let tasks = bindings::tasks(env)?;
        let id = match address {
            TaskAddress::New => tasks.unique_id()?,
            TaskAddress::Named(name) => tasks.id_from_name(name)?,
            TaskAddress::Object(id) => {
                tasks.id_from_string(id.as_str()).map_err(|_| AskError::Unknown)?
            }
        };
        Ok(Self { env: env.clone(), id: ObjectId::new(id.to_string()) })
    }

    /// Its id, in the normal form.
    pub(super) fn id(&self) -> &ObjectId {
        &self.id
    }

    /// The object of this id.
    ///
    /// # Errors
    ///
    /// As [`at`](Self::at).
    pub(super) fn at_id(env: &Env, id: ObjectId) -> Result<Self, AskError> {
        Self::at(env, &TaskAddress::Object(id))
    }

    /// Asks for the answer to a call.
    ///
    /// # Errors
    ///
    /// When it has no answer for the caller.
    pub(super) async fn call(&self, command: &Command) -> Result<Answer, AskError> {
        self.ask(Form::Call, &encode(command)?).await
    }

    /// Reports on a notification, and asks for the next one.
    ///
    /// # Errors
    ///
    /// When it does not answer, or cannot now.
    pub(super) async fn next_notification(
        &self,
        asked: &NextNotification,
    ) -> Result<NotificationTurn, AskError> {
        let answer = self.ask(Form::NextNotification, &encode(asked)?).await?;
        read_json(&answer.body).map_err(|error| AskError::Unreadable(error.to_string()))
    }

    /// Lets it take what was posted to a callback, or without a body tell whether it would.
    ///
    /// # Errors
    ///
    /// When it has no answer for the sender.
    pub(super) async fn call_back(&self, post: &CallbackPost) -> Result<Answer, AskError> {
        self.ask(Form::CallBack, &encode(post)?).await
    }

    /// Lets it delete all of its task but the row in the index, if the task is finished.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotDeleted`] where the task is not finished; or when it does not answer.
    pub(super) async fn clear(&self) -> Result<(), AskError> {
        self.ask(Form::Clear, "").await.map(|_| ())
    }

    async fn ask(&self, form: Form, text: &str) -> Result<Answer, AskError> {
        // A new stub each time: after a failure the old one may stay broken.
        let stub = bindings::tasks(&self.env)?.id_from_string(self.id.as_str())?.get_stub()?;
        let stub: TaskStub = stub.into_rpc();
        let answer = stub.ask(form.name(), text).await.map_err(worker::Error::from)?;
        let answer = answer.as_string().as_deref().and_then(Answer::read);
        let answer = answer.ok_or_else(|| AskError::Unreadable("no answer".to_owned()))?;
        match Refusal::read(form, answer.status) {
            Some(refusal) => Err(AskError::Refused(refusal)),
            None => Ok(answer),
        }
    }
}

#[wasm_bindgen]
extern "C" {
    type TaskStub;

    /// The method of `TaskObject`.
    #[wasm_bindgen(method, catch)]
    async fn ask(this: &TaskStub, form: &str, text: &str) -> Result<JsValue, JsValue>;
}

/// What an object answers.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Answer {
    /// Reads the text of an answer, see [`to_text`](crate::forms::answer::to_text).
    fn read(text: &str) -> Option<Self> {
        let (head, body) = text.split_once("\n\n")?;
        let status = head.lines().next()?.parse().ok()?;
        Some(Self { status, body: body.to_owned() })
    }
}

/// Why an object gave no answer.
pub(super) enum AskError {
    /// There is no such object: its id was never given out.
    Unknown,
    /// It refuses.
    Refused(Refusal),
    /// What it answered cannot be read by this version.
    Unreadable(String),
    /// It could not be reached.
    Platform(worker::Error),
}

impl AskError {
    /// Why there is no answer for the client: the status that an object gave instead of one, 404 for one that the
    /// namespace does not know, and 0 if nothing came, for this reason.
    pub(super) fn of_status(status: u16, reason: &str) -> Self {
        match status {
            0 => Self::Platform(worker::Error::RustError(reason.to_owned())),
            404 => Self::Unknown,
            status => Self::Refused(match Refusal::read(Form::Call, status) {
                Some(refusal) => refusal,
                None => Refusal::Failed(status),
            }),
        }
    }

    /// Whether the object and this program are of versions of which one cannot read the other: asking again
    /// helps, but not at once.
    pub(super) fn is_of_versions(&self) -> bool {
        match self {
            Self::Unreadable(_) | Self::Refused(Refusal::Unreadable) => true,
            Self::Refused(_) | Self::Unknown | Self::Platform(_) => false,
        }
    }
}

impl From<serde_json::Error> for AskError {
    fn from(error: serde_json::Error) -> Self {
        Self::Platform(error.into())
    }
}

impl From<worker::Error> for AskError {
    fn from(error: worker::Error) -> Self {
        Self::Platform(error)
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => out.write_str("there is no object of this id"),
            Self::Refused(refusal) => refusal.fmt(out),
            Self::Unreadable(reason) => write!(out, "what it answered cannot be read: {reason}"),
            Self::Platform(error) => error.fmt(out),
        }
    }
}
