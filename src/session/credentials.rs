//! The credentials that a client sends to a task which waits for credentials (spec §7.6): encrypted, and stored for one turn.
//!
//! The session receives the credentials separately from the message, so neither the log nor the index contains them.

use std::cell::RefCell;
use std::rc::Rc;

use crate::port::{Sealed, StoreError, TaskStore};
use a2a::error::Error;
use a2a::model::decode::{Decode, Fields, read_json};
use a2a::model::{TaskId, TaskState, encode};
use serde::Serialize;

/// Credentials that arrived with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentCredentials {
    /// The credentials.
    pub sealed: Sealed,
    /// True if the credentials were in a part of the message. A task that does not wait for credentials refuses a message with
    /// credentials in a part, but ignores credentials in a header.
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

    /// Stores the credentials that arrived with a message. The caller stores the message without an await in between: after a crash,
    /// storage has both or neither.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn put(&self, sealed: Sealed) -> Result<(), StoreError> {
        let json = encode(&sealed).map_err(|error| StoreError::Failed(error.to_string()))?;
        self.store.set_credentials(Some(&json))?;
        self.sealed.replace(Some(sealed));
        Ok(())
    }

    /// Deletes the credentials, if there are any and their turn is over.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn forget_if(&self, is_over: impl FnOnce() -> bool) -> Result<(), StoreError> {
        if self.sealed.borrow().is_some() && is_over() {
            self.store.set_credentials(None)?;
            self.sealed.take();
        }
        Ok(())
    }
}

impl SentCredentials {
    /// The credentials to store with the next message of a task in this state; `None` if the task does not wait for credentials
    /// and the credentials were in a header.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the task does not wait for credentials and the credentials are in a part of the message.
    pub(super) fn taken(self, state: Option<TaskState>) -> Result<Option<Sealed>, Error> {
        if state == Some(TaskState::AuthRequired) {
            return Ok(Some(self.sealed));
        }
        if self.is_part {
            let fix = "holds credentials, but the task does not wait for any; leave the part out";
            return Err(Error::invalid("message.parts", fix));
        }
        Ok(None)
    }
}
