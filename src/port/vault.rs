//! What is kept encrypted: credentials that clients give a task.

use futures_util::future::LocalBoxFuture;
use serde::Serialize;

use a2a::model::Secret;
use a2a::model::decode::{Decode, Fields};

/// A text that is encrypted for one task. It is opened with the id of the task's object alone: that of another task does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sealed {
    /// Which key opens it.
    pub key: String,
    /// The nonce, in base64.
    pub nonce: String,
    /// The encrypted text and its tag, in base64.
    pub text: String,
}

impl Decode for Sealed {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let [key, nonce, text] = ["key", "nonce", "text"].map(|name| fields.required_string(name));
        Some(Self { key: key?, nonce: nonce?, text: text? })
    }
}

/// Opens what is kept encrypted.
pub trait Vault {
    /// The text that was sealed for the task of this object.
    ///
    /// # Errors
    ///
    /// Why it cannot be opened, for the log: its key is gone, or it was sealed for another task.
    fn open<'a>(
        &'a self,
        object: &'a str,
        sealed: &'a Sealed,
    ) -> LocalBoxFuture<'a, Result<Secret, String>>;
}
