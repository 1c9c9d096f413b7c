//! A vault without a key.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::LocalBoxFuture;

use crate::port::{Sealed, Vault};
use a2a::model::Secret;

/// A vault that does not encrypt: a sealed text is base64 of the id of the object and the text.
pub struct MemoryVault;

impl MemoryVault {
    /// Seals a text for the task of an object.
    pub fn seal(object: &str, text: &str) -> Sealed {
        let text = STANDARD.encode(format!("{object} {text}"));
        Sealed { key: "memory".to_owned(), nonce: "none".to_owned(), text }
    }
}

impl Vault for MemoryVault {
    fn open<'a>(
        &'a self,
        object: &'a str,
        sealed: &'a Sealed,
    ) -> LocalBoxFuture<'a, Result<Secret, String>> {
        let bytes = STANDARD.decode(&sealed.text).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let opened = text.strip_prefix(&format!("{object} ")).map(Secret::new);
        let opened = opened.ok_or_else(|| "it was sealed for another task".to_owned());
        Box::pin(std::future::ready(opened))
    }
}
