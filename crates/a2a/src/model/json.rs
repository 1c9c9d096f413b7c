//! Free-form JSON and long texts in the form in which tasks store them: as shared text, not as trees.

use std::io::{self, Write};
use std::ops::Deref;
use std::rc::Rc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json_size::JsonSize;
use super::reading::read_own;

/// A text whose clones share its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(Rc<str>);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

/// Any JSON value, stored as compact text whose clones share its memory. A tree needs up to fifty times the
/// memory of its text, so a tree is made only for reading the content, and is not stored.
#[derive(Clone, Debug)]
pub struct Json(Rc<RawValue>);

impl Json {
    /// The JSON of a value.
    ///
    /// # Errors
    ///
    /// As [`encode`].
    pub fn of<T: Serialize>(value: &T) -> serde_json::Result<Self> {
        encode(value).and_then(RawValue::from_string).map(|text| Self(text.into()))
    }

    /// The value as a JSON tree.
    pub fn value(&self) -> Value {
        read_own(self.as_str()).unwrap_or_default()
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        // The keys of a JSON tree are strings, so encoding cannot fail.
        Self::of(value).unwrap_or_else(|_| Self(Box::<RawValue>::default().into()))
    }
}

impl PartialEq for Json {
    /// Whether the values are equal; the order of members is ignored.
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() || self.value() == other.value()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A free-form JSON object (`google.protobuf.Struct`), stored as [`Json`]. The order of its members is
/// preserved.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Metadata(Json);

impl Metadata {
    /// The members.
    pub fn members(&self) -> Map<String, Value> {
        match self.0.value() {
            Value::Object(members) => members,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        }
    }

    /// One member. The text is only parsed if it contains the name.
    pub fn member(&self, name: &str) -> Option<Value> {
        if !self.0.as_str().contains(name) {
            return None;
        }
        self.members().remove(name)
    }
}

impl From<Map<String, Value>> for Metadata {
    fn from(members: Map<String, Value>) -> Self {
        Self(Json::from(&Value::Object(members)))
    }
}

impl Default for Metadata {
    fn default() -> Self {
        Map::new().into()
    }
}

/// Encodes a value as JSON, in a buffer of exactly its size: a growing buffer needs up to three times the
/// memory, and the memory of an instance never shrinks.
///
/// # Errors
///
/// For a map with keys other than strings, which the model does not have.
pub fn encode<T: Serialize>(value: &T) -> serde_json::Result<String> {
    let bytes = Sink::default().take(value)?.bytes;
    Sink::of(String::new(), bytes).take(value)?.text()
}

/// Encodes a value as [`encode`] does, with space for a line end; also returns the number of JSON values.
///
/// # Errors
///
/// As [`encode`].
pub fn encode_line<T: Serialize>(value: &T) -> serde_json::Result<(String, usize)> {
    let measured = Sink::counting().take(value)?;
    let text = Sink::of(String::new(), measured.bytes + 1).take(value)?.text()?;
    Ok((text, measured.values()))
}

/// The JSON of a value, in a text that grows as needed: for values that are short or of which the size does not matter.
///
/// Used instead of `serde_json::to_string`, which would have the code that writes a type twice in the module.
///
/// # Errors
///
/// As [`encode`].
pub fn to_json<T: Serialize>(value: &T) -> serde_json::Result<String> {
    extend(String::new(), value)
}

/// Appends the JSON of a value to a text, which grows as needed.
pub(crate) fn extend<T: Serialize>(text: String, value: &T) -> serde_json::Result<String> {
    Sink { text: text.into_bytes(), room: usize::MAX, ..Sink::default() }.take(value)?.text()
}

/// Appends the JSON of a value to a text that is passed on at once, such as a message to another part of the server. A
/// short value is encoded without being measured first; the buffer grows to exactly the size of a long one.
///
/// # Errors
///
/// As [`encode`].
pub fn append<T: Serialize>(text: String, value: &T) -> serde_json::Result<String> {
    let begun = text.len();
    let sink = Sink::of(text, SHORT_BYTES).take(value)?;
    if sink.bytes <= SHORT_BYTES {
        return sink.text();
    }
    let Sink { mut text, bytes, .. } = sink;
    text.truncate(begun);
    Sink::on(text, bytes).take(value)?.text()
}

/// The number of bytes of a value's JSON, and the number of JSON values in it.
pub fn measure<T: Serialize>(value: &T) -> (usize, usize) {
    let measured = Sink::counting().take(value);
    measured.map_or((usize::MAX, usize::MAX), |measured| (measured.bytes, measured.values()))
}

/// The space for a value that [`append`] does not measure first.
const SHORT_BYTES: usize = 1024;

/// A writer that keeps what it has room for, and counts all bytes. One writer for all encodings of a type: the code that
/// writes a type exists once for each kind of writer.
#[derive(Default)]
struct Sink {
    text: Vec<u8>,
    /// The number of bytes that are kept.
    room: usize,
    bytes: usize,
    /// The size in JSON values, if it is counted.
    json: Option<JsonSize>,
}

impl Sink {
    /// Counts bytes and JSON values, and keeps nothing.
    fn counting() -> Self {
        Self { json: Some(JsonSize::default()), ..Self::default() }
    }

    /// Keeps up to `room` bytes behind a text.
    fn of(text: String, room: usize) -> Self {
        Self::on(text.into_bytes(), room)
    }

    fn on(mut text: Vec<u8>, room: usize) -> Self {
        text.reserve_exact(room);
        Self { text, room, ..Self::default() }
    }

    /// Writes a value.
    fn take<T: Serialize>(mut self, value: &T) -> serde_json::Result<Self> {
        serde_json::to_writer(&mut self, value)?;
        Ok(self)
    }

    fn values(&self) -> usize {
        self.json.map_or(0, |json| json.values)
    }

    fn text(self) -> serde_json::Result<String> {
        String::from_utf8(self.text).map_err(serde::ser::Error::custom)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        if self.bytes <= self.room {
            self.text.extend_from_slice(bytes);
        }
        if let Some(json) = &mut self.json {
            json.read(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn nesting_and_values_are_counted_outside_of_strings() {
        for (text, depth, values) in [
            ("", 0, 0),
            ("1", 0, 1),
            ("{}", 1, 1),
            (r#"{"":0}"#, 1, 3),
            (r#"{"a":[{}],"b":[]}"#, 3, 6),
            (r#"{"a":{"b":"c"}, "d" : null}"#, 2, 7),
            ("[true,false , -1.5e3]", 1, 4),
            (r#""[[[""#, 0, 1),
            (r#"["\"[[[,1:"]"#, 1, 2),
            (r#"["\\",[]]"#, 2, 3),
            ("[[],[],[]]", 2, 4),
        ] {
            let size = JsonSize::of(text.as_bytes());
            assert_eq!((size.depth, size.values), (depth, values), "{text}");
        }
    }

    #[test]
    fn a_value_is_appended_whatever_its_size() {
        for size in [0, 1, SHORT_BYTES - 3, SHORT_BYTES - 2, SHORT_BYTES - 1, 3 * SHORT_BYTES] {
            let value = json!("x".repeat(size));
            let text = append("a\n".to_owned(), &value).unwrap();
            assert_eq!(text, format!("a\n{value}"), "{size}");
        }
    }

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(values) => values.iter().map(count).sum(),
            Value::Object(members) => members.values().map(|value| 1 + count(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((".{0,3}", inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_counted_exactly_however_the_text_is_cut(value in any_json(), at in 0..200usize) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let size = JsonSize::of(text.as_bytes());
                prop_assert_eq!(size.values, count(&value), "{}", text);
                let (first, rest) = text.as_bytes().split_at(at.min(text.len()));
                let mut piecewise = JsonSize::default();
                piecewise.read(first);
                piecewise.read(rest);
                prop_assert_eq!(piecewise, size);
            }
        }
    }

    #[test]
    fn free_form_json_is_kept_as_it_came() {
        for value in [json!({"b": 1, "a": [null, "ü\n"]}), json!(null), json!("x")] {
            let kept = Json::from(&value);
            assert_eq!(kept.value(), value);
            assert_eq!(serde_json::to_string(&kept).unwrap(), value.to_string());
            assert_eq!(serde_json::to_value(&kept).unwrap(), value);
        }
        assert_eq!(Json::from(&json!({"a": 1, "b": 2})), Json::from(&json!({"b": 2, "a": 1})));
        assert_ne!(Json::from(&json!([1, 2])), Json::from(&json!([2, 1])));
    }
}
