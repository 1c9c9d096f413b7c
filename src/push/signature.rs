//! Signatures of notifications by [Standard Webhooks](https://www.standardwebhooks.com), which receivers verify with a library or in a few
//! lines.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use a2a::model::{Secret, TaskPushNotificationConfig};

/// The key that signs the notifications of a webhook: 24 to 64 bytes, shared with the receiver.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Vec<u8>);

impl SigningSecret {
    /// Reads a secret in the form `whsec_` and base64 (standard alphabet, padded).
    ///
    /// # Errors
    ///
    /// The rule that the text breaks, which continues the name of the field. The error does not contain the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(encoded) = text.strip_prefix(PREFIX) else {
            return Err(format!("must begin with {PREFIX}"));
        };
        let Ok(bytes) = STANDARD.decode(encoded) else {
            return Err(format!("must be base64 behind {PREFIX}: A to Z, a to z, 0 to 9, +, /, ="));
        };
        match bytes.len() {
            24..=64 => Ok(Self(bytes)),
            count => Err(format!("must stand for 24 to 64 bytes, got {count}")),
        }
    }

    /// The secret of a webhook, which was checked when it was registered. `None` if its notifications are not signed.
    pub fn of(config: &TaskPushNotificationConfig) -> Option<Self> {
        Self::parse(config.signing_secret.as_ref()?.reveal()).ok()
    }

    /// A new secret of 32 random bytes.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(bytes.to_vec())
    }

    /// The secret in the form that [`parse`](Self::parse) reads.
    pub fn to_secret(&self) -> Secret {
        Secret::new(format!("{PREFIX}{}", STANDARD.encode(&self.0)))
    }

    /// The value of the header `webhook-signature` for a notification with this id and this time in seconds since 1970, which are sent as
    /// `webhook-id` and `webhook-timestamp`. The signature covers the exact bytes of the body.
    pub fn sign(&self, id: &str, timestamp_s: i64, body: &str) -> String {
        // HMAC accepts a key of any length, so there is no error.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(format!("{id}.{timestamp_s}.").as_bytes());
        mac.update(body.as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("…")
    }
}

const PREFIX: &str = "whsec_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_published_vectors() {
        // The example of the specification, whose secret is shorter than the specification requires, and the example of its
        // libraries.
        let short = SigningSecret(STANDARD.decode("plJ3nmyCDGBKInavdOK15jsl").unwrap());
        assert_eq!(
            short.sign(
                "msg_loFOjxBNrRLzqYUf",
                1_731_705_121,
                r#"{"event_type":"ping","data":{"success":true}}"#
            ),
            "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="
        );
        let secret = SigningSecret::parse("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        assert_eq!(
            secret.sign(
                "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
                1_649_367_553,
                r#"{"email":"test@example.com","username":"test_user"}"#
            ),
            "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
        );
    }

    #[test]
    fn signatures_are_those_that_the_examples_for_receivers_verify() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../docs/receivers/vectors.json")).unwrap();
        let text = |name: &str| vectors[name].as_str().unwrap();
        let secret = SigningSecret::parse(text("secret")).unwrap();
        let timestamp_s = text("timestamp").parse().unwrap();
        assert_eq!(secret.sign(text("id"), timestamp_s, text("body")), text("signature"));
    }

    #[test]
    fn secrets_are_read_as_they_are_written() {
        let made = SigningSecret::from_random([0xa5; 32]);
        let text = made.to_secret();
        assert_eq!(SigningSecret::parse(text.reveal()), Ok(made.clone()));
        assert_eq!(format!("{made:?}"), "…");
        for bytes in [24, 64] {
            let text = format!("whsec_{}", STANDARD.encode(vec![1; bytes]));
            assert!(SigningSecret::parse(&text).is_ok(), "{bytes} bytes");
        }
    }

    #[test]
    fn a_refusal_says_what_is_wrong_and_nothing_of_the_secret() {
        let encoded = |bytes| format!("whsec_{}", STANDARD.encode(vec![1; bytes]));
        for (text, expected) in [
            ("C2FVsBQIhrscChlQIMV+b5sSYspob7oD".to_owned(), "must begin with whsec_"),
            ("WHSEC_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".to_owned(), "must begin with whsec_"),
            ("whsec_C2FVsBQIhrscChlQIMV-b5sSYspob7oD".to_owned(), "must be base64"),
            ("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDA".to_owned(), "must be base64"),
            ("whsec_".to_owned(), "24 to 64 bytes, got 0"),
            (encoded(23), "24 to 64 bytes, got 23"),
            (encoded(65), "24 to 64 bytes, got 65"),
        ] {
            let refusal = SigningSecret::parse(&text).unwrap_err();
            assert!(refusal.contains(expected) && !refusal.contains("C2FV"), "{refusal}");
        }
    }
}
