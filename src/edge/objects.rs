//! The objects of tasks as seen by the Rust code that calls them: queue jobs, lists with artifacts, and posts to callbacks
//! before their body is received. For clients, `js/hop.js` calls the same method, and `js/stream.js` opens the sockets of
//! followers.

use std::fmt;

use wasm_bindgen::prelude::*;
use worker::Env;

use super::bindings;
use crate::forms::address::{ObjectId, TaskAddress};
use crate::forms::ask::{Form, Refusal};
use crate::forms::callback::CallbackPost;
use crate::forms::command::Command;
use crate::front::failure::Failure;
use crate::push::{NextNotification, NotificationTurn};
use a2a::model::decode::read_json;
use a2a::model::encode;

/// The id of an object, as the platform gives it.
///
/// # Errors
///
/// If the platform gives an empty text.
pub(super) fn id_of(id: &worker::ObjectId<'_>) -> worker::Result<ObjectId> {
    let empty = || worker::Error::RustError("the id of an object is empty".to_owned());
    ObjectId::new(id.to_string()).ok_or_else(empty)
}

/// The object of one task. It may not be in memory, and may not contain a task yet.
#[derive(Clone)]
pub(super) struct Object {
    env: Env,
    id: ObjectId,
}

impl Object {
    /// The object at an address. Nothing is sent to the object yet, so no object is created.
    ///
    /// # Errors
    ///
    /// [`AskError::Unknown`] for an id that the namespace did not create: the namespace recognizes its own ids.
    pub(super) fn at(env: &Env, address: &TaskAddress) -> Result<Self, AskError> {
        let tasks = bindings::tasks(env)?;
        let id = match address {
            TaskAddress::New => tasks.unique_id()?,
            TaskAddress::Named(name) => tasks.id_from_name(name)?,
            TaskAddress::Object(id) | TaskAddress::NewObject(id) => {
                tasks.id_from_string(id.as_str()).map_err(|_| AskError::Unknown)?
            }
        };
        Ok(Self { env: env.clone(), id: id_of(&id)? })
    }

    /// The id of the object, in the normal form.
    pub(super) fn id(&self) -> &ObjectId {
        &self.id
    }

    /// The object with this id.
    ///
    /// # Errors
    ///
    /// As [`at`](Self::at).
    pub(super) fn at_id(env: &Env, id: ObjectId) -> Result<Self, AskError> {
        Self::at(env, &TaskAddress::Object(id))
    }

    /// Sends a call and returns its answer.
    ///
    /// # Errors
    ///
    /// If the object has no answer for the caller.
    pub(super) async fn call(&self, command: &Command) -> Result<Answer, AskError> {
        self.ask(Form::Call, &encode(command)?).await
    }

    /// Reports on a notification, and requests the next one.
    ///
    /// # Errors
    ///
    /// If the object does not answer, or refuses at the moment.
    pub(super) async fn next_notification(
        &self,
        asked: &NextNotification,
    ) -> Result<NotificationTurn, AskError> {
        let answer = self.ask(Form::NextNotification, &encode(asked)?).await?;
        read_json(&answer.body).map_err(|error| AskError::Unreadable(error.to_string()))
    }

    /// Delivers a post to a callback; without a body, requests only if the callback would accept one.
    ///
    /// # Errors
    ///
    /// If the object has no answer for the sender.
    pub(super) async fn call_back(&self, post: &CallbackPost) -> Result<Answer, AskError> {
        self.ask(Form::CallBack, &encode(post)?).await
    }

    /// Requests that the object deletes its task, except for the row in the index, if the task is finished.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotDeleted`] if the task is not finished; other errors if the object does not answer.
    pub(super) async fn clear(&self) -> Result<(), AskError> {
        self.ask(Form::Clear, "").await.map(|_| ())
    }

    /// Requests that the object opens its task: an interrupted run then resumes.
    ///
    /// # Errors
    ///
    /// If the object does not answer, or cannot open the task.
    pub(super) async fn open(&self) -> Result<(), AskError> {
        self.ask(Form::Open, "").await.map(|_| ())
    }

    async fn ask(&self, form: Form, text: &str) -> Result<Answer, AskError> {
        // A new stub for each call: after a failure the old stub may stay broken.
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

/// The answer of an object.
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

/// The reason why an object did not answer.
pub(super) enum AskError {
    /// There is no such object: the namespace did not create its id.
    Unknown,
    /// The object refuses the request.
    Refused(Refusal),
    /// This version cannot read the answer.
    Unreadable(String),
    /// The object could not be reached.
    Platform(worker::Error),
}

impl AskError {
    /// True if the object and this program run versions that cannot read each other's texts: a retry helps, but not at once.
    pub(super) fn is_of_versions(&self) -> bool {
        match self {
            Self::Unreadable(_) | Self::Refused(Refusal::Unreadable) => true,
            Self::Refused(_) | Self::Unknown | Self::Platform(_) => false,
        }
    }
}

impl From<&AskError> for Failure {
    fn from(error: &AskError) -> Self {
        match error {
            AskError::Unknown => Self::Unknown,
            error if error.is_of_versions() => Self::OtherVersion(error.to_string()),
            error => Self::Unreachable(error.to_string()),
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
