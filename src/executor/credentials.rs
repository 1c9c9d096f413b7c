//! The credentials that a client sends to a task that waits for them (spec §7.6).

use std::fmt;

use serde_json::Value;

use a2a::model::{Secret, read_own};

/// The credentials in the message of a turn: the data of its part of the type
/// [`CREDENTIALS_MEDIA_TYPE`](a2a::model::CREDENTIALS_MEDIA_TYPE), or the request's header `Authorization` as the
/// member `authorization`. The credentials are deleted at the end of the turn.
#[derive(Clone, PartialEq)]
pub struct TaskCredentials(Value);

impl TaskCredentials {
    /// Reads credentials from JSON; `None` if the JSON is not an object.
    pub(super) fn parse(json: &Secret) -> Option<Self> {
        let value: Value = read_own(json.reveal()).ok()?;
        value.is_object().then_some(Self(value))
    }

    /// All members, as the client wrote them.
    pub fn data(&self) -> &Value {
        &self.0
    }

    /// The member of this name, if it is a text.
    pub fn get(&self, name: &str) -> Option<Secret> {
        self.0.get(name).and_then(Value::as_str).map(Secret::new)
    }

    /// All texts in the credentials, at any depth, with the paths to them.
    pub(super) fn texts(&self) -> Vec<(String, Secret)> {
        let mut texts = Vec::new();
        collect(&self.0, "credentials", &mut texts);
        texts
    }
}

/// Shows only the names of the members.
impl fmt::Debug for TaskCredentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.as_object().into_iter().flat_map(|members| members.keys());
        out.debug_tuple("TaskCredentials").field(&names.collect::<Vec<_>>()).finish()
    }
}

fn collect(value: &Value, path: &str, texts: &mut Vec<(String, Secret)>) {
    match value {
        Value::String(text) => texts.push((path.to_owned(), Secret::new(text.as_str()))),
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, path, texts)),
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, &format!("{path}.{name}"), texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Option<TaskCredentials> {
        TaskCredentials::parse(&Secret::new(json))
    }

    #[test]
    fn credentials_are_an_object_whose_texts_are_known() {
        let credentials = parse(r#"{"key":"k-1","more":{"pin":["a",7]},"n":1}"#).unwrap();
        assert_eq!(credentials.get("key"), Some(Secret::new("k-1")));
        assert_eq!(credentials.get("n"), None);
        assert_eq!(credentials.get("none"), None);
        let texts = credentials.texts();
        let texts: Vec<(&str, &str)> =
            texts.iter().map(|(path, text)| (path.as_str(), text.reveal())).collect();
        assert_eq!(texts, [("credentials.key", "k-1"), ("credentials.more.pin", "a")]);
        assert_eq!(format!("{credentials:?}"), r#"TaskCredentials(["key", "more", "n"])"#);
        for other in ["", "[]", "\"a\"", "null", "{"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
