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
        Self(encode(value).and_then(RawValue::from_string).unwrap_or_default().into())
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
    encode_line(value).map(|(text, _)| text)
}

/// Encodes a value as [`encode`] does, with space for a line end; also returns the number of JSON values.
///
/// # Errors
///
/// As [`encode`].
pub fn encode_line<T: Serialize>(value: &T) -> serde_json::Result<(String, usize)> {
    let measured = Measured::of(value)?;
    let mut text = Vec::with_capacity(measured.bytes + 1);
    serde_json::to_writer(&mut text, value)?;
    let text = String::from_utf8(text).map_err(serde::ser::Error::custom)?;
    Ok((text, measured.json.values))
}

/// A writer that only counts bytes and JSON values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Measured {
    bytes: usize,
    json: JsonSize,
}

/// The number of bytes of a value's JSON, and the number of JSON values in it.
pub fn measure<T: Serialize>(value: &T) -> (usize, usize) {
    let measured = Measured::of(value);
    measured.map_or((usize::MAX, usize::MAX), |measured| (measured.bytes, measured.json.values))
}

impl Measured {
    fn of<T: Serialize>(value: &T) -> serde_json::Result<Self> {
        let mut measured = Self::default();
        serde_json::to_writer(&mut measured, value)?;
        Ok(measured)
    }
}

impl Write for Measured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        self.json.read(bytes);
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
