//! The credentials that a client sends to a task which waits for credentials (spec §7.6): encrypted, and stored for one turn.
//!
//! Credentials arrive beside the message, not in its parts, so neither the log nor the index contains them.

use std::cell::RefCell;
use std::rc::Rc;

use super::TaskSession;
use crate::port::{Sealed, StoreError, TaskStore};
use crate::task::TaskMachine;
use a2a::error::Error;
use a2a::model::decode::{Decode, Fields, read_json};
use a2a::model::{TaskId, TaskState, encode};
use serde::Serialize;

/// Credentials that arrived with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentCredentials {
    /// The credentials.
    pub sealed: Sealed,
    /// Whether the credentials were in a part of the message. A task that does not wait for credentials refuses such a message, and
    /// ignores credentials of a header.
    pub is_part: bool,
}

impl Decode for SentCredentials {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let is_part = fields.boolean("is_part").unwrap_or_default();
        Some(Self { sealed: fields.required_object("sealed")?, is_part })
    }
}

/// The credentials of the present turn.
pub(super) struct Credentials {
    sealed: RefCell<Option<Sealed>>,
    store: Rc<dyn TaskStore>,
}

impl Credentials {
    /// No credentials.
    pub(super) fn new(store: Rc<dyn TaskStore>) -> Self {
        Self { sealed: RefCell::default(), store }
    }

    /// Reads the credentials of a stored task.
    ///
    /// # Errors
    ///
    /// If this version cannot read the credentials.
    pub(super) fn restore(&self, id: &TaskId, json: Option<&str>) -> Result<(), StoreError> {
        let read = |json| {
            read_json(json)
                .map_err(|error| StoreError::Unreadable(format!("credentials of {id}: {error}")))
        };
        self.sealed.replace(json.map(read).transpose()?);
        Ok(())
    }

    /// The encrypted credentials, which the run can decrypt.
    pub(super) fn sealed(&self) -> Option<Sealed> {
        self.sealed.borrow().clone()
    }

    fn put(&self, sealed: Sealed) -> Result<(), StoreError> {
        let json = encode(&sealed).map_err(|error| StoreError::Failed(error.to_string()))?;
        self.store.set_credentials(Some(&json))?;
        self.sealed.replace(Some(sealed));
        Ok(())
    }
}

/// The credentials to store with the next message of a task; `None` if the task does not wait for credentials and they came in a header.
///
/// # Errors
///
/// [`Error::InvalidParams`] if the task does not wait for credentials and they are a part of the message.
pub(super) fn taken(session: &TaskSession, sent: SentCredentials) -> Result<Option<Sealed>, Error> {
    if session.life.state() == Some(TaskState::AuthRequired) {
        return Ok(Some(sent.sealed));
    }
    if sent.is_part {
        let fix = "holds credentials, but the task does not wait for any; leave the part out";
        return Err(Error::invalid("message.parts", fix));
    }
    Ok(None)
}

/// Stores the credentials in the same synchronous stretch as the message with which they arrived: after a crash, storage has both or
/// neither.
///
/// # Errors
///
/// [`Error::Internal`] when storage fails; the session is broken then.
pub(super) fn keep(session: &TaskSession, sealed: Sealed) -> Result<(), Error> {
    session.credentials.put(sealed).map_err(|error| {
        session.give_up(&error);
        session.internal()
    })
}

/// Deletes the credentials if their turn is over.
pub(super) fn forget_if_over(session: &TaskSession) {
    let credentials = &session.credentials;
    if credentials.sealed.borrow().is_none()
        || !session.life.with_machine(TaskMachine::is_turn_over).unwrap_or(true)
    {
        return;
    }
    match credentials.store.set_credentials(None) {
        Ok(()) => {
            credentials.sealed.replace(None);
        }
        Err(error) => session.give_up(&error),
    }
}
