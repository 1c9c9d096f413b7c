//! Encrypts the credentials that clients send for tasks, with the keys of the secret `STATE_KEY`: AES-GCM, with the id
//! of the task's object as additional data.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::LocalBoxFuture;
use sha2::{Digest, Sha256};
use wasm_bindgen::JsValue;
use worker::Env;
use worker::js_sys::{Object, Reflect};

use super::random::WorkerRandom;
use super::web_crypto;
use crate::edge::bindings;
use crate::forms::address::ObjectId;
use crate::port::{Random, Sealed, Vault};
use a2a::model::{Secret, hex};

/// The vault of this Worker.
pub(in crate::edge) struct WorkerVault {
    pub(in crate::edge) env: Env,
}

impl WorkerVault {
    /// Encrypts a text for the task of an object, with the first key.
    ///
    /// # Errors
    ///
    /// The reason why the text cannot be encrypted, for the log: there is no key, or the key cannot be used.
    pub(in crate::edge) async fn seal(
        &self,
        object: &ObjectId,
        text: &Secret,
    ) -> Result<Sealed, String> {
        let keys = self.keys()?;
        let key = keys.first().ok_or_else(no_key)?;
        let nonce: Vec<u8> = WorkerRandom.secret_bytes().into_iter().take(NONCE_BYTES).collect();
        let text = text.reveal().as_bytes();
        let sealed = crypt(key, &nonce, object.as_str(), text, Way::Encrypt).await;
        let sealed = sealed.map_err(|_| "the platform refused to encrypt them".to_owned())?;
        Ok(Sealed {
            key: key.id.clone(),
            nonce: STANDARD.encode(nonce),
            text: STANDARD.encode(sealed),
        })
    }

    fn keys(&self) -> Result<Vec<StateKey>, String> {
        let secret = bindings::state_key(&self.env).ok_or_else(no_key)?;
        StateKey::parse_all(secret.reveal())
            .map_err(|reason| format!("the secret STATE_KEY cannot be used: it {reason}"))
    }
}

impl Vault for WorkerVault {
    fn open<'a>(
        &'a self,
        object: &'a str,
        sealed: &'a Sealed,
    ) -> LocalBoxFuture<'a, Result<Secret, String>> {
        Box::pin(async move {
            let keys = self.keys()?;
            let key = keys.iter().find(|key| key.id == sealed.key);
            let key = key.ok_or("the key that sealed them is not in STATE_KEY any more")?;
            let decode = |text: &str| STANDARD.decode(text).unwrap_or_default();
            let (nonce, text) = (decode(&sealed.nonce), decode(&sealed.text));
            let opened = crypt(key, &nonce, object, &text, Way::Decrypt).await;
            let opened =
                opened.map_err(|_| "they were sealed for another task, or were changed")?;
            let text = String::from_utf8(opened).map_err(|_| "they are no text")?;
            Ok(Secret::new(text))
        })
    }
}

/// A key of `STATE_KEY`.
struct StateKey {
    id: String,
    bytes: Vec<u8>,
}

impl StateKey {
    /// Parses the keys: one, or two separated by a space, each 32 bytes in base64. The first key encrypts.
    ///
    /// # Errors
    ///
    /// If the text is invalid; the error states the requirement and contains no part of the keys.
    fn parse_all(text: &str) -> Result<Vec<Self>, &'static str> {
        let keys = text.split_whitespace().map(|key| {
            let bytes = STANDARD.decode(key).ok().filter(|bytes| bytes.len() == KEY_BYTES);
            let bytes =
                bytes.ok_or("must be 32 bytes in base64, or two of them with a space between")?;
            let digest = Sha256::new().chain_update("a2a-edge state key").chain_update(&bytes);
            let digest = digest.finalize();
            let id = hex(digest.get(..ID_BYTES).unwrap_or_default());
            Ok(Self { id, bytes })
        });
        let keys: Vec<Self> = keys.collect::<Result<_, &'static str>>()?;
        match keys.len() {
            1..=MAX_KEYS => Ok(keys),
            _ => Err("must hold one key, or two"),
        }
    }
}

/// The direction of the operation on a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Encrypt,
    Decrypt,
}

async fn crypt(
    key: &StateKey,
    nonce: &[u8],
    object: &str,
    text: &[u8],
    way: Way,
) -> Result<Vec<u8>, JsValue> {
    let algorithm = Object::new();
    for (name, value) in [
        ("name", JsValue::from_str("AES-GCM")),
        ("iv", web_crypto::copy(nonce).into()),
        ("additionalData", web_crypto::copy(object.as_bytes()).into()),
    ] {
        Reflect::set(&algorithm, &name.into(), &value)?;
    }
    let bytes = web_crypto::copy(&key.bytes);
    let handle = web_crypto::import("raw", &bytes, &algorithm, &["encrypt", "decrypt"]).await?;
    match way {
        Way::Encrypt => web_crypto::encrypt(&algorithm, &handle, text).await,
        Way::Decrypt => web_crypto::decrypt(&algorithm, &handle, text).await,
    }
}

fn no_key() -> String {
    "the secret STATE_KEY is not set".to_owned()
}

/// The length of a key: AES-256.
const KEY_BYTES: usize = 32;

/// The length of a nonce, as recommended for AES-GCM.
const NONCE_BYTES: usize = 12;

/// The length of a key's id: the number of bytes that are taken from the digest of the key.
const ID_BYTES: usize = 8;

/// The largest number of keys: the current key, and its predecessor or successor.
const MAX_KEYS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_keys_are_one_or_two_of_32_bytes() {
        let [first, second] = [[1; 32], [2; 32]].map(|bytes: [u8; 32]| STANDARD.encode(bytes));
        let ids = |text: &str| {
            let keys = StateKey::parse_all(text);
            keys.map(|keys| keys.into_iter().map(|key| key.id).collect::<Vec<_>>())
        };
        let one = ids(&first).unwrap();
        assert_eq!((one.len(), one[0].len()), (1, 16));
        let two = ids(&format!(" {second}\n{first} ")).unwrap();
        assert_eq!((two.len(), &two[1]), (2, &one[0]));
        assert_ne!(two[0], two[1]);
        let short = STANDARD.encode([1; 31]);
        for wrong in ["", " ", "x", &short, &format!("{first} {short}"), &[&*first; 3].join(" ")] {
            let refused = ids(wrong).unwrap_err();
            assert!(refused.starts_with("must"), "{refused}");
        }
    }
}
