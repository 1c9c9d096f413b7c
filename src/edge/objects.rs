//! The objects of tasks, as seen by the Rust code that asks them. In JavaScript two files ask objects: `js/hop.js`
//! calls the RPC method `ask`, and `js/stream.js` opens the sockets of followers.

use std::fmt;

use worker::{Env, Request, Response};

use super::address::{ObjectId, TaskAddress};
use super::ask::{Ask, Form, Refusal};
use super::bindings;
use super::callback::CallbackPost;
use super::command::Command;
use super::request::{new_request, post_bytes};
use crate::push::{NextNotification, NotificationTurn};
use a2a::model::decode::read_json;

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

    /// Asks for the answer to a call of a client.
    ///
    /// # Errors
    ///
    /// When it has no answer for the client.
    pub(super) async fn call(&self, command: Command) -> Result<Response, AskError> {
        self.ask(Ask::Call(Box::new(command))).await
    }

    /// Reports on a notification, and asks for the next one.
    ///
    /// # Errors
    ///
    /// When it does not answer, or cannot now.
    pub(super) async fn next_notification(
        &self,
        asked: NextNotification,
    ) -> Result<NotificationTurn, AskError> {
        let mut answer = self.ask(Ask::NextNotification(asked)).await?;
        let text = answer.text().await?;
        read_json(&text).map_err(|error| AskError::Unreadable(error.to_string()))
    }

    /// The object of this id.
    ///
    /// # Errors
    ///
    /// As [`at`](Self::at).
    pub(super) fn at_id(env: &Env, id: ObjectId) -> Result<Self, AskError> {
        Self::at(env, &TaskAddress::Object(id))
    }

    /// Lets it take what was posted to a callback, or say whether it would, and gives its answer to the sender.
    ///
    /// # Errors
    ///
    /// When it has no answer for the sender.
    pub(super) async fn call_back(&self, post: CallbackPost) -> Result<Response, AskError> {
        self.ask(Ask::CallBack(Box::new(post))).await
    }

    /// Lets it delete all of its task but the row in the index, if the task is finished.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotDeleted`] where the task is not finished; or when it does not answer.
    pub(super) async fn clear(&self) -> Result<(), AskError> {
        self.ask(Ask::Clear).await.map(|_| ())
    }

    async fn ask(&self, ask: Ask) -> Result<Response, AskError> {
        let form = ask.form();
        let request = request(ask)?;
        // A new stub each time: after a failure the old one may stay broken.
        let stub = bindings::tasks(&self.env)?.id_from_string(self.id.as_str())?.get_stub()?;
        let answer = stub.fetch_with_request(request).await?;
        match Refusal::read(form, answer.status_code()) {
            Some(refusal) => Err(AskError::Refused(refusal)),
            None => Ok(answer),
        }
    }
}

fn request(ask: Ask) -> Result<Request, worker::Error> {
    let form: Form = ask.form();
    // The host of a request to an object means nothing.
    let url = format!("https://task{}", form.path());
    match ask.into_body()? {
        Some(body) => post_bytes(&url, body.as_bytes()),
        None => new_request(form.method(), &url, &[], None),
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
