//! Removes secrets from responses before they are stored, because a server may return parts of the request.

use serde_json::Value;

use a2a::binding::percent::encode;
use a2a::model::Secret;
use a2a::sorted::{SortedSet, sort_by};

/// Replaces the secrets of a call by their names in brackets, in each form in which a server may return them.
pub(super) struct Redaction {
    /// Each form of each secret, with the name in brackets.
    forms: Vec<(String, String)>,
}

impl Redaction {
    /// The redaction of these secrets, each with its name. Short secrets are not replaced, because many texts contain them by
    /// chance.
    pub(super) fn new(secrets: &[(String, Secret)]) -> Self {
        let long = secrets.iter().filter(|(_, secret)| secret.reveal().len() >= MIN_BYTES);
        let forms = long.flat_map(|(name, secret)| {
            forms_of_secret(secret).into_iter().map(move |form| (form, format!("[{name}]")))
        });
        let mut forms: Vec<_> = forms.collect();
        // One form may contain another, so the longest is replaced first.
        sort_by(&mut forms, |(one, _), (other, _)| other.len().cmp(&one.len()));
        Self { forms }
    }

    pub(super) fn text(&self, text: &str) -> String {
        self.forms.iter().fold(text.to_owned(), |text, (form, name)| {
            if text.contains(form) { text.replace(form, name) } else { text }
        })
    }

    pub(super) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.forms.iter().fold(bytes, |bytes, (form, name)| replaced(bytes, form, name))
    }

    /// Redacts every text in a value, and the names of members.
    pub(super) fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.text(&text).into(),
            Value::Array(elements) => {
                elements.into_iter().map(|element| self.value(element)).collect()
            }
            Value::Object(members) => {
                let members = members.into_iter();
                Value::Object(
                    members.map(|(name, member)| (self.text(&name), self.value(member))).collect(),
                )
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }
}

/// The forms in which a server may return a secret, each once: unchanged, encoded as in a URL, as in a form, and as in JSON.
pub fn forms_of_secret(secret: &Secret) -> Vec<String> {
    let plain = secret.reveal();
    let (in_url, in_json) = (encode(plain), escaped(plain));
    let in_form = in_url.replace("%20", "+");
    // A server that puts the body of a request into JSON escapes it a second time.
    let twice = escaped(&in_json);
    let forms = [plain.to_owned(), in_url, in_form, in_json, twice];
    forms.into_iter().collect::<SortedSet<_>>().into_iter().collect()
}

/// A text as it is written between the quotes of JSON.
fn escaped(text: &str) -> String {
    let json = Value::from(text).to_string();
    let inside = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
    inside.unwrap_or(&json).to_owned()
}

fn replaced(bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    let (mut result, mut rest) = (Vec::new(), bytes.as_slice());
    while let Some(at) = rest.windows(from.len()).position(|window| window == from.as_bytes()) {
        let (before, found) = rest.split_at(at);
        result.extend(before);
        result.extend(to.as_bytes());
        rest = found.get(from.len()..).unwrap_or_default();
    }
    if result.is_empty() && rest.len() == bytes.len() {
        bytes
    } else {
        result.extend(rest);
        result
    }
}

/// The minimum length of a secret that is replaced, in bytes.
const MIN_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_found_in_every_form() {
        let secrets = [("KEY", "a/\"b c\\d"), ("LONG_KEY", "xa/\"b c\\dx"), ("SHORT", "1234567")];
        let secrets = secrets.map(|(name, secret)| (name.to_owned(), Secret::new(secret)));
        let redaction = Redaction::new(&secrets);
        for (text, redacted) in [
            ("1 a/\"b c\\d 2", "1 [KEY] 2"),
            ("?k=a%2F%22b%20c%5Cd&l", "?k=[KEY]&l"),
            ("k=a%2F%22b+c%5Cd", "k=[KEY]"),
            (r#"{"k":"a/\"b c\\d"}"#, r#"{"k":"[KEY]"}"#),
            (r#"{"body":"{\"k\":\"a/\\\"b c\\\\d\"}"}"#, r#"{"body":"{\"k\":\"[KEY]\"}"}"#),
            ("xa/\"b c\\dx", "[LONG_KEY]"),
            ("1234567", "1234567"),
        ] {
            assert_eq!(redaction.text(text), redacted);
            assert_eq!(redaction.bytes(text.as_bytes().to_vec()), redacted.as_bytes());
        }
        let value = json!({"a/\"b c\\d": ["a/\"b c\\d", 5]});
        assert_eq!(redaction.value(value), json!({"[KEY]": ["[KEY]", 5]}));
        let bytes = redaction.bytes([b"\xff", "a/\"b c\\d".as_bytes(), b"\xfe"].concat());
        assert_eq!(bytes, b"\xff[KEY]\xfe");
    }
}
