//! Replaces the secrets that a run has read in the events of the run.
//!
//! | file | purpose |
//! |---|---|
//! | `secrets` | finds secrets, and beginnings of secrets, in a text |
//! | `chunk` | redacts text that arrives in pieces |

mod chunk;
#[cfg(test)]
mod cuts;
mod secrets;

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::Value;

use a2a::model::{Artifact, Base64, Message, Metadata, Part, PartContent, Secret};
use secrets::Secrets;

pub(crate) use chunk::Tail;

/// Replaces each secret that a run has read by its name in brackets, in all events of the run. Costs nothing for a run
/// that has read no secret.
#[derive(Default)]
pub(crate) struct Redaction {
    secrets: RefCell<Secrets>,
}

impl Redaction {
    /// Registers a secret that was read. A short secret is ignored, because it would occur in too many texts by chance.
    pub(crate) fn note(&self, name: &str, secret: &Secret) {
        self.secrets.borrow_mut().add(name, secret);
    }

    /// True if no secret is registered.
    pub(crate) fn is_empty(&self) -> bool {
        self.secrets.borrow().is_empty()
    }

    /// The text without secrets.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let secrets = self.secrets.borrow();
        let found = secrets.scan_end(text.as_bytes(), 0);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let whole = 0..text.len();
        chunk::said(text, &chunk::pieces(&found, whole.clone()), whole).into()
    }

    /// The message without secrets.
    pub(crate) fn message(&self, message: Message) -> Message {
        let metadata = message.metadata.map(|metadata| self.metadata(&metadata));
        Message { parts: self.parts(message.parts), metadata, ..message }
    }

    /// The artifact, or its next chunk, without secrets. Its parts stay unchanged here: [`chunk`](Self::chunk) redacts
    /// them.
    pub(crate) fn artifact(&self, artifact: Artifact) -> Artifact {
        let Artifact { artifact_id, name, description, parts, metadata, extensions } = artifact;
        let owned = |text: String| self.text(&text).into_owned();
        Artifact {
            artifact_id: owned(artifact_id),
            name: name.map(owned),
            description: description.map(owned),
            parts,
            metadata: metadata.map(|metadata| self.metadata(&metadata)),
            extensions,
        }
    }

    fn parts(&self, parts: Vec<Part>) -> Vec<Part> {
        self.chunk(None, parts, true).0
    }

    /// The metadata without secrets.
    pub(crate) fn metadata(&self, metadata: &Metadata) -> Metadata {
        match self.value(metadata.members().into()) {
            Value::Object(members) => Metadata::from(members),
            _ => Metadata::default(),
        }
    }

    fn part(&self, part: Part) -> Part {
        let content = match part.content {
            PartContent::Text(text) => PartContent::Text(self.text(&text).into_owned().into()),
            PartContent::Url(url) => PartContent::Url(self.text(&url).into_owned().into()),
            PartContent::Data(data) => PartContent::Data((&self.value(data.value())).into()),
            PartContent::Raw(raw) => PartContent::Raw(Base64::encode(&self.bytes(&raw.bytes()))),
        };
        self.around(Part { content, ..part })
    }

    /// Redacts the metadata and names of a part, but not its content.
    fn around(&self, part: Part) -> Part {
        let owned = |text: &str| self.text(text).into_owned();
        let metadata = part.metadata.map(|metadata| self.metadata(&metadata));
        let [filename, media_type] =
            [part.filename, part.media_type].map(|text| text.as_deref().map(owned));
        Part { content: part.content, metadata, filename, media_type }
    }

    /// The value without secrets.
    pub(crate) fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.text(&text).into_owned().into(),
            Value::Array(elements) => {
                elements.into_iter().map(|element| self.value(element)).collect()
            }
            Value::Object(members) => {
                let member = |(name, value): (String, Value)| {
                    (self.text(&name).into_owned(), self.value(value))
                };
                Value::Object(members.into_iter().map(member).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let secrets = self.secrets.borrow();
        let mut redacted = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for found in secrets.scan_end(bytes, 0) {
            redacted.extend(bytes.get(at..found.at).unwrap_or_default());
            redacted.extend(format!("[{}]", found.name).into_bytes());
            at = found.end;
        }
        redacted.extend(bytes.get(at..).unwrap_or_default());
        redacted
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redaction() -> Redaction {
        let redaction = Redaction::default();
        for (name, secret) in [
            ("KEY", "12345678"),
            ("LONG_KEY", "x12345678x"),
            ("SHORT", "1234567"),
            ("URL_KEY", "a&b/c=d e"),
        ] {
            redaction.note(name, &Secret::new(secret));
        }
        redaction
    }

    #[test]
    fn secrets_of_eight_bytes_or_more_are_replaced_by_their_names() {
        for (text, redacted) in [
            ("nothing", "nothing"),
            ("1234567", "1234567"),
            ("a12345678b12345678", "a[KEY]b[KEY]"),
            ("Bearer x12345678x", "Bearer [LONG_KEY]"),
            ("?key=a%26b%2Fc%3Dd%20e&key=a%26b%2Fc%3Dd+e", "?key=[URL_KEY]&key=[URL_KEY]"),
        ] {
            assert_eq!(redaction().text(text), redacted);
        }
    }

    #[test]
    fn secrets_are_found_in_parts_of_every_kind() {
        let secret = "12345678";
        let parts = vec![
            Part::text(secret),
            Part::data(json!({"a": [secret, 1], secret: null})),
            Part::url(format!("https://a/?key={secret}")).with_filename(secret),
            Part::raw(b"\xff12345678\xff", format!("text/{secret}")),
        ];
        let redacted = redaction().parts(parts);
        let json = serde_json::to_string(&redacted).unwrap();
        assert!(!json.contains(secret), "{json}");
        assert_eq!(redacted[1], Part::data(json!({"a": ["[KEY]", 1], "[KEY]": null})));
        assert_eq!(redacted[3], Part::raw(b"\xff[KEY]\xff", "text/[KEY]"));
    }

    #[test]
    fn a_name_that_holds_its_own_secret_ends() {
        let redaction = Redaction::default();
        redaction.note("PASSWORD", &Secret::new("PASSWORD"));
        assert_eq!(redaction.text("PASSWORD"), "[PASSWORD]");
        let raw = redaction.parts(vec![Part::raw(b"PASSWORD", "a/b")]);
        assert_eq!(raw, [Part::raw(b"[PASSWORD]", "a/b")]);
    }
}
