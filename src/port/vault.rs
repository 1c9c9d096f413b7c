//! Decrypts the credentials that clients send for a task.

use futures_util::future::LocalBoxFuture;
use serde::Serialize;

use a2a::model::Secret;
use a2a::model::decode::{Decode, Fields};

/// A text that is encrypted for one task: the id of the task's object is part of the authenticated data, so another task cannot decrypt it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sealed {
    /// The id of the key.
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

/// Decrypts sealed texts.
pub trait Vault {
    /// Decrypts a text that was sealed for the task of this object.
    ///
    /// # Errors
    ///
    /// The reason for the log: the key is not set any more, or the text was sealed for another task.
    fn open<'a>(
        &'a self,
        object: &'a str,
        sealed: &'a Sealed,
    ) -> LocalBoxFuture<'a, Result<Secret, String>>;
}
