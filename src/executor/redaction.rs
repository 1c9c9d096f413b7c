//! Secrets that a run has read are kept out of what it says.

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::Value;

use super::Emission;
use a2a::model::{Artifact, Base64, Message, Metadata, Part, PartContent, Secret};
use a2a_agents::forms_of_secret;

/// Replaces the secrets that a run has read by their names in brackets, in all that it says. Costs nothing when it
/// has read none.
#[derive(Default)]
pub(crate) struct Redaction {
    /// Each form of each secret, with its name.
    secrets: RefCell<Vec<(String, Secret)>>,
}

impl Redaction {
    /// The secret of this name was read. A short one is not kept out: it would stand in too many texts by chance.
    pub(crate) fn note(&self, name: &str, secret: &Secret) {
        let mut secrets = self.secrets.borrow_mut();
        let is_known = secrets.iter().any(|(_, known)| known == secret);
        if secret.reveal().len() >= MIN_BYTES && !is_known {
            let forms = forms_of_secret(secret).into_iter();
            secrets.extend(forms.map(|form| (name.to_owned(), Secret::new(form))));
            // A secret may be a part of another one.
            secrets.sort_by_key(|(_, secret)| std::cmp::Reverse(secret.reveal().len()));
        }
    }

    /// The text without secrets.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (name, secret) in self.secrets.borrow().iter() {
            if text.contains(secret.reveal()) {
                text = text.replace(secret.reveal(), &format!("[{name}]")).into();
            }
        }
        text
    }

    /// What the run says, without secrets.
    pub(super) fn emission(&self, emission: Emission) -> Emission {
        if self.secrets.borrow().is_empty() {
            return emission;
        }
        match emission {
            Emission::Status { state, message, metadata } => {
                let message = message.map(|message| self.message(message));
                let metadata = metadata.map(|metadata| self.metadata(&metadata));
                Emission::Status { state, message, metadata }
            }
            Emission::Artifact { artifact, append, last_chunk, metadata } => {
                let metadata = metadata.map(|metadata| self.metadata(&metadata));
                let artifact = self.artifact(artifact);
                Emission::Artifact { artifact, append, last_chunk, metadata }
            }
            Emission::Reply(message) => Emission::Reply(self.message(message)),
        }
    }

    fn message(&self, message: Message) -> Message {
        let metadata = message.metadata.map(|metadata| self.metadata(&metadata));
        Message { parts: self.parts(message.parts), metadata, ..message }
    }

    fn artifact(&self, artifact: Artifact) -> Artifact {
        let Artifact { artifact_id, name, description, parts, metadata, extensions } = artifact;
        let owned = |text: String| self.text(&text).into_owned();
        Artifact {
            artifact_id: owned(artifact_id),
            name: name.map(owned),
            description: description.map(owned),
            parts: self.parts(parts),
            metadata: metadata.map(|metadata| self.metadata(&metadata)),
            extensions,
        }
    }

    fn parts(&self, parts: Vec<Part>) -> Vec<Part> {
        parts.into_iter().map(|part| self.part(part)).collect()
    }

    fn metadata(&self, metadata: &Metadata) -> Metadata {
        match self.value(metadata.members().into()) {
            Value::Object(members) => Metadata::from(members),
            _ => Metadata::default(),
        }
    }

    fn part(&self, part: Part) -> Part {
        let Part { content, metadata, filename, media_type } = part;
        let owned = |text: &str| self.text(text).into_owned();
        let content = match content {
            PartContent::Text(text) => PartContent::Text(owned(&text).into()),
            PartContent::Url(url) => PartContent::Url(owned(&url).into()),
            PartContent::Data(data) => PartContent::Data((&self.value(data.value())).into()),
            PartContent::Raw(raw) => PartContent::Raw(Base64::encode(&self.bytes(raw.bytes()))),
        };
        let metadata = metadata.map(|metadata| self.metadata(&metadata));
        let [filename, media_type] = [filename, media_type].map(|text| text.as_deref().map(owned));
        Part { content, metadata, filename, media_type }
    }

    fn value(&self, value: Value) -> Value {
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

    fn bytes(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for (name, secret) in self.secrets.borrow().iter() {
            let name = format!("[{name}]");
            bytes = replaced(&bytes, secret.reveal().as_bytes(), name.as_bytes());
        }
        bytes
    }
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        let (before, found) = rest.split_at(at);
        result.extend(before);
        result.extend(to);
        rest = found.get(from.len()..).unwrap_or_default();
    }
    result.extend(rest);
    result
}

/// The shortest secret that is kept out, in bytes.
const MIN_BYTES: usize = 8;

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
