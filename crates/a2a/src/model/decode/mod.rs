//! Decodes the JSON of A2A 1.0, leniently where ProtoJSON is lenient, otherwise strictly (spec §5.5).
//!
//! Accepted: camelCase and snake_case names, enum names and numbers, `10`, `10.0` and `"10"` for an
//! integer, `null` for an absent member, unknown members. Refused, each with the path of the field:
//! a wrong type, a missing required field, an unknown enum value, several members of a choice.
//! All violations of a request are reported together, up to [`MAX_VIOLATIONS`].

mod member;

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::{Metadata, UnixMillis, read_own};

pub use a2a_macros::Decode;
pub use member::Member;
// For the code that `#[derive(Decode)]` writes.
pub use serde_json::Value;

/// A wrong field in a request (`google.rpc.BadRequest.FieldViolation`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldViolation {
    /// The path of the field, for example `message.parts[0].raw`; empty for the whole request.
    pub field: String,
    /// What is wrong, and what would be right.
    pub description: String,
}

impl FieldViolation {
    /// A violation of the field at this path.
    pub fn new(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self { field: field.into(), description: description.into() }
    }
}

/// Decodes a value from parsed JSON.
///
/// # Errors
///
/// All violations, at least one and at most [`MAX_VIOLATIONS`].
pub fn decode<T: Member>(value: Value) -> Result<T, Vec<FieldViolation>> {
    let mut fields = Fields::empty();
    let decoded = T::read(&mut fields, "", value);
    fields.finish(decoded)
}

/// Decodes a value from parsed JSON by a function.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_with<T>(
    value: Value,
    read: impl FnOnce(&mut Fields) -> Option<T>,
) -> Result<T, Vec<FieldViolation>> {
    let mut fields = Fields::empty();
    let decoded = fields.nested("", value).and_then(|mut fields| read(&mut fields));
    fields.finish(decoded)
}

/// Decodes JSON that this program has written: to store it, or to send it from one part of the server to another.
/// The value is decoded by the same [`Decode`] as in requests.
///
/// # Errors
///
/// If the text is not JSON, or does not match the type.
pub fn read_json<T: Member>(text: &str) -> serde_json::Result<T> {
    decode(read_own(text)?).map_err(summary)
}

/// A type that is decoded from the members of a JSON object.
pub trait Decode: Sized {
    /// Decodes the value; `None` if it cannot be decoded, with the reasons added to `fields`.
    fn decode(fields: &mut Fields) -> Option<Self>;
}

/// The members of a JSON object that were not read yet, and the path of the object.
pub struct Fields {
    members: Map<String, Value>,
    path: String,
    violations: Rc<RefCell<Vec<FieldViolation>>>,
}

impl Fields {
    fn empty() -> Self {
        Self { members: Map::new(), path: String::new(), violations: Rc::default() }
    }

    /// The decoded value, if there are no violations.
    fn finish<T>(self, decoded: Option<T>) -> Result<T, Vec<FieldViolation>> {
        let found = self.violations.take();
        match decoded {
            Some(decoded) if found.is_empty() => Ok(decoded),
            Some(_) | None if !found.is_empty() => Err(found),
            Some(_) | None => Err(vec![FieldViolation::new("", "cannot be read")]),
        }
    }

    /// Adds a violation for the field `name` of this object, or for the object itself if `name` is empty.
    pub fn refuse(&mut self, name: &str, description: impl Into<String>) {
        let mut violations = self.violations.borrow_mut();
        if violations.len() < MAX_VIOLATIONS {
            violations.push(FieldViolation::new(self.path_of(name), description));
        }
    }

    /// The value of a member, under its camelCase or its snake_case name; `null` counts as absent.
    pub fn member(&mut self, name: &str) -> Option<Value> {
        self.nullable(name).filter(|value| !value.is_null())
    }

    /// The value of a member; `null` counts as a value.
    pub fn nullable(&mut self, name: &str) -> Option<Value> {
        let found = self.members.remove(name);
        found.or_else(|| self.members.remove(&self.other_name(name)?))
    }

    /// Whether the object has this member, under its camelCase or its snake_case name, with a value other than
    /// `null`.
    pub fn has(&self, name: &str) -> bool {
        let found = self.members.get(name);
        let found = found.or_else(|| self.members.get(&self.other_name(name)?));
        found.is_some_and(|value| !value.is_null())
    }

    /// Whether a member is a string with this prefix.
    pub fn begins(&self, name: &str, prefix: &str) -> bool {
        let text = self.members.get(name).and_then(Value::as_str);
        text.is_some_and(|text| text.starts_with(prefix))
    }

    /// Requires that `value`, from the member `name`, is a string; it may be empty.
    pub fn text(&mut self, name: &str, value: Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text),
            other => self.wrong(name, "a string", &other),
        }
    }

    /// A string; an empty string counts as absent.
    pub fn string(&mut self, name: &str) -> Option<String> {
        self.any_string(name).filter(|text| !text.is_empty())
    }

    /// A string, which may be empty.
    pub fn any_string(&mut self, name: &str) -> Option<String> {
        let value = self.member(name)?;
        self.text(name, value)
    }

    /// A required string; it may be empty.
    pub fn required_text(&mut self, name: &str) -> Option<String> {
        match self.member(name) {
            Some(value) => self.text(name, value),
            None => self.missing(name),
        }
    }

    /// A required string that must not be empty.
    pub fn required_string(&mut self, name: &str) -> Option<String> {
        match self.member(name) {
            Some(value) => {
                let text = self.text(name, value)?;
                if text.is_empty() {
                    self.refuse(name, EMPTY);
                    return None;
                }
                Some(text)
            }
            None => self.missing(name),
        }
    }

    /// An id; an empty string counts as absent.
    pub fn id<T: TryFrom<String>>(&mut self, name: &str) -> Option<T> {
        self.any_string(name).and_then(|text| T::try_from(text).ok())
    }

    /// A required id.
    pub fn required_id<T: TryFrom<String>>(&mut self, name: &str) -> Option<T> {
        let id = T::try_from(self.required_text(name)?).ok();
        if id.is_none() {
            self.refuse(name, EMPTY);
        }
        id
    }

    /// A list of ids; empty strings are left out.
    pub fn ids<T: TryFrom<String>>(&mut self, name: &str) -> Vec<T> {
        self.strings(name).into_iter().filter_map(|text| T::try_from(text).ok()).collect()
    }

    /// A list of strings; empty if absent.
    pub fn strings(&mut self, name: &str) -> Vec<String> {
        let Some(value) = self.member(name) else { return Vec::new() };
        let values = self.elements_of(name, value).unwrap_or_default();
        values.into_iter().filter_map(|(name, value)| self.text(&name, value)).collect()
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, name: &str) -> Option<bool> {
        let value = self.member(name)?;
        bool::read(self, name, value)
    }

    /// A 32-bit integer, as a number, a number without fraction (`10.0`) or a decimal string.
    pub fn integer(&mut self, name: &str) -> Option<i32> {
        let value = self.member(name)?;
        let number = match &value {
            Value::Number(number) => number
                .as_i64()
                .or_else(|| number.as_f64().filter(|float| float.fract() == 0.0).map(whole)),
            Value::String(text) => text.parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        match number.and_then(|number| i32::try_from(number).ok()) {
            Some(number) => Some(number),
            None => self.wrong(name, "a whole number of 32 bits", &value),
        }
    }

    /// A number of any size in the form in which this program writes it, without the leniency for foreign numbers.
    pub fn number<T: Member>(&mut self, name: &str) -> Option<T> {
        let value = self.member(name)?;
        T::read(self, name, value)
    }

    /// An [`integer`](Self::integer) that must be 0 or more.
    pub fn count(&mut self, name: &str) -> Option<i32> {
        let number = self.integer(name)?;
        if number < 0 {
            self.refuse(name, format!("must be 0 or more, got {number}"));
            return None;
        }
        Some(number)
    }

    /// An instant.
    pub fn timestamp(&mut self, name: &str) -> Option<UnixMillis> {
        let text = self.string(name)?;
        let instant = UnixMillis::parse(&text);
        if instant.is_none() {
            let example = "an ISO 8601 instant such as 2026-01-05T09:00:01.250Z";
            self.refuse(name, format!("must be {example}, got {text:?}"));
        }
        instant
    }

    /// A free-form object in the form in which tasks store it.
    pub fn metadata(&mut self, name: &str) -> Option<Metadata> {
        self.free_form(name).map(Metadata::from)
    }

    /// A free-form object.
    pub fn free_form(&mut self, name: &str) -> Option<Map<String, Value>> {
        match self.member(name)? {
            Value::Object(members) => Some(members),
            other => self.wrong(name, "an object", &other),
        }
    }

    /// An enum value, by name or number; the value for "unspecified" counts as absent.
    pub fn enumeration<T: Copy>(
        &mut self,
        name: &str,
        values: &[(&str, i64, Option<T>)],
    ) -> Option<T> {
        let given = self.member(name)?;
        let found = match &given {
            Value::String(text) => values.iter().find(|(known, ..)| known == text),
            Value::Number(number) => {
                values.iter().find(|(_, known, _)| number.as_i64() == Some(*known))
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        match found {
            Some((.., value)) => *value,
            None => {
                let names = values.iter().filter(|(.., value)| value.is_some());
                let names: Vec<&str> = names.map(|(known, ..)| *known).collect();
                self.wrong(name, &format!("one of {}", names.join(", ")), &given)
            }
        }
    }

    /// A required enum value, other than "unspecified".
    pub fn required_enumeration<T: Copy>(
        &mut self,
        name: &str,
        values: &[(&str, i64, Option<T>)],
    ) -> Option<T> {
        let before = self.violations.borrow().len();
        let value = self.enumeration(name, values);
        if value.is_none() && self.violations.borrow().len() == before {
            return self.missing(name);
        }
        value
    }

    /// An object of a known type.
    pub fn object<T: Decode>(&mut self, name: &str) -> Option<T> {
        let value = self.member(name)?;
        T::decode(&mut self.nested(name, value)?)
    }

    /// A required object of a known type.
    pub fn required_object<T: Decode>(&mut self, name: &str) -> Option<T> {
        match self.member(name) {
            Some(value) => T::decode(&mut self.nested(name, value)?),
            None => self.missing(name),
        }
    }

    /// An object that `read` decodes.
    pub(crate) fn object_with<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let value = self.member(name)?;
        read(&mut self.nested(name, value)?)
    }

    /// A list of objects that `read` decodes; empty if absent, `None` if one of them is wrong.
    pub(crate) fn list_with<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let (elements, is_whole) = self.elements(name);
        let count = elements.len();
        let list: Vec<T> = elements.into_iter().filter_map(|mut one| read(&mut one)).collect();
        (is_whole && list.len() == count).then_some(list)
    }

    /// The name and the members of an enum variant, in the form that serde writes: an object in an object.
    pub fn variant(&mut self) -> Option<(String, Self)> {
        let (name, value) = std::mem::take(&mut self.members).into_iter().next()?;
        let members = self.nested(&name, value)?;
        Some((name, members))
    }

    /// A list of objects of a known type; empty if absent, `None` if one of them is wrong.
    pub fn list<T: Decode>(&mut self, name: &str) -> Option<Vec<T>> {
        let (elements, is_whole) = self.elements(name);
        let count = elements.len();
        let mut list = Vec::with_capacity(count);
        for mut element in elements {
            list.extend(T::decode(&mut element));
        }
        (is_whole && list.len() == count).then_some(list)
    }

    /// A list of objects of a known type with at least one element.
    pub fn required_list<T: Decode>(&mut self, name: &str) -> Option<Vec<T>> {
        let elements = self.list(name)?;
        if elements.is_empty() {
            self.refuse(name, "is required and needs at least one element");
            return None;
        }
        Some(elements)
    }

    /// The objects in a list, and whether all elements are objects.
    fn elements(&mut self, name: &str) -> (Vec<Self>, bool) {
        let Some(value) = self.member(name) else { return (Vec::new(), true) };
        let Some(values) = self.elements_of(name, value) else { return (Vec::new(), false) };
        let count = values.len();
        let elements: Vec<Self> =
            values.into_iter().filter_map(|(name, value)| self.nested(&name, value)).collect();
        let is_whole = elements.len() == count;
        (elements, is_whole)
    }

    /// The members of the object that is the value of the member `name`.
    pub fn nested(&mut self, name: &str, value: Value) -> Option<Self> {
        let Value::Object(members) = value else { return self.wrong(name, "an object", &value) };
        let path = self.path_of(name);
        Some(Self { members, path, violations: self.violations.clone() })
    }

    fn wrong<T>(&mut self, name: &str, wanted: &str, given: &Value) -> Option<T> {
        self.refuse(name, expected(wanted, given));
        None
    }

    fn missing<T>(&mut self, name: &str) -> Option<T> {
        self.refuse(name, "is required");
        None
    }

    fn path_of(&self, name: &str) -> String {
        match (self.path.as_str(), name) {
            ("", name) => name.to_owned(),
            (path, "") => path.to_owned(),
            (path, name) => [path, ".", name].concat(),
        }
    }

    /// The snake_case name of a member, if it is not the same as the camelCase name, and if the object has such names at all.
    fn other_name(&self, name: &str) -> Option<String> {
        let differs = name.bytes().any(|letter| letter.is_ascii_uppercase());
        let is_possible = differs && self.members.keys().any(|known| known.contains('_'));
        is_possible.then(|| snake_case(name))
    }
}

/// Implements `serde::Deserialize` by [`Decode`] or [`Member`], for values that steps store: the steps of tools and of executors
/// of other authors read their results by serde. The Worker itself uses [`decode()`] and [`read_json`].
#[macro_export]
macro_rules! decode_via_fields {
    ($($name:ident),+) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = $crate::model::decode::Value::deserialize(deserializer)?;
                $crate::model::decode::decode(value).map_err($crate::model::decode::summary)
            }
        }
    )+};
}

/// The violations as one error, as serde requires.
pub fn summary<E: serde::de::Error>(violations: Vec<FieldViolation>) -> E {
    let lines = violations.iter().map(|found| format!("{}: {}", found.field, found.description));
    E::custom(lines.collect::<Vec<_>>().join("; "))
}

fn expected(wanted: &str, given: &Value) -> String {
    let given = match given {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.chars().count() <= MAX_QUOTED_CHARS => format!("{text:?}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("must be {wanted}, got {given}")
}

pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// A float without fraction as an integer; too large floats saturate, and are later refused as out of range.
fn whole(float: f64) -> i64 {
    float as i64
}

/// The largest number of violations in a refusal.
pub const MAX_VIOLATIONS: usize = 20;

/// What is wrong with a required string or id that is empty.
const EMPTY: &str = "is required and must not be empty";

/// The longest text that a refusal quotes, in characters.
const MAX_QUOTED_CHARS: usize = 60;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Message, PartContent, SendMessageRequest, Task, TaskId, TaskState};
    use super::*;

    fn violations<T: Decode + std::fmt::Debug>(value: Value) -> Vec<(String, String)> {
        let found = decode::<T>(value).expect_err("should be refused");
        found.into_iter().map(|found| (found.field, found.description)).collect()
    }

    fn message(part: Value) -> Value {
        json!({"messageId": "m", "role": "ROLE_USER", "parts": [part]})
    }

    #[test]
    fn names_are_read_in_camel_and_in_snake_case() {
        let camel = json!({"message": message(json!({"text": "x", "mediaType": "text/plain"})),
            "configuration": {"historyLength": 3, "returnImmediately": true}});
        let snake = json!({"message": {"message_id": "m", "role": "ROLE_USER",
            "parts": [{"text": "x", "media_type": "text/plain"}]},
            "configuration": {"history_length": "3", "return_immediately": true}});
        assert_eq!(decode::<SendMessageRequest>(camel), decode::<SendMessageRequest>(snake));
    }

    #[test]
    fn enums_are_read_by_name_and_by_number() {
        for state in [json!("TASK_STATE_INPUT_REQUIRED"), json!(6)] {
            let task: Task =
                decode(json!({"id": "t", "contextId": "c", "status": {"state": state}})).unwrap();
            assert_eq!(task.status.state, TaskState::InputRequired);
        }
    }

    #[test]
    fn null_is_an_absent_member_except_for_data() {
        let part = json!({"data": null, "text": null, "metadata": null});
        let read: Message = decode(message(part)).unwrap();
        assert_eq!(read.parts[0].content, PartContent::Data((&Value::Null).into()));
        assert_eq!(read.parts[0].metadata, None);
    }

    #[test]
    fn base64_is_read_in_every_common_spelling() {
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            let read: Message = decode(message(json!({"raw": text}))).unwrap();
            let PartContent::Raw(raw) = &read.parts[0].content else { panic!("{text}") };
            assert_eq!((raw.as_str(), raw.bytes()), ("+/8=", vec![0xfb, 0xff]));
        }
    }

    #[test]
    fn every_violation_is_named_with_its_path() {
        let request = json!({
            "message": {"role": "ROLE_KING", "parts": [{"text": "a", "url": "b"}, {}, {"raw": "%"}]},
            "configuration": {"historyLength": -3, "returnImmediately": "yes"},
            "metadata": [],
        });
        let fields: Vec<String> =
            violations::<SendMessageRequest>(request).into_iter().map(|found| found.0).collect();
        assert_eq!(
            fields,
            [
                "message.messageId",
                "message.role",
                "message.parts[0]",
                "message.parts[1]",
                "message.parts[2].raw",
                "configuration.historyLength",
                "configuration.returnImmediately",
                "metadata",
            ]
        );
    }

    #[test]
    fn wrong_values_are_quoted_with_what_would_be_right() {
        for (value, wanted) in [
            (json!({"id": 5}), "must be a string, got 5"),
            (json!({"id": ""}), "is required and must not be empty"),
            (json!({}), "is required"),
        ] {
            let found = violations::<super::super::GetTaskRequest>(value);
            assert_eq!(found, [("id".to_owned(), wanted.to_owned())]);
        }
        for length in [json!(1.5), json!("x"), json!(4_294_967_296_i64), json!(1e300), json!({})] {
            let found = violations::<super::super::GetTaskRequest>(
                json!({"id": "t", "historyLength": length}),
            );
            assert_eq!(found[0].0, "historyLength");
        }
    }

    #[test]
    fn numbers_of_our_own_are_read_in_the_whole_range_of_their_type() {
        let numbers = json!({"a": u64::MAX, "b": i64::MIN, "c": u64::MAX, "d": -1});
        let mut fields = Fields::empty().nested("", numbers).unwrap();
        assert_eq!(fields.number::<u64>("a"), Some(u64::MAX));
        assert_eq!(fields.number::<i64>("b"), Some(i64::MIN));
        assert_eq!(fields.number::<i64>("c"), None);
        assert_eq!(fields.number::<u64>("d"), None);
        assert_eq!(fields.violations.borrow().len(), 2);
    }

    #[test]
    fn empty_ids_are_absent_unless_they_are_required() {
        let mut given = message(json!({"text": "x"}));
        given["contextId"] = json!("");
        given["taskId"] = json!("");
        given["referenceTaskIds"] = json!(["", "t"]);
        let read: Message = decode(given).unwrap();
        assert_eq!((read.context_id, read.task_id), (None, None));
        assert_eq!(read.reference_task_ids, [TaskId::new("t").unwrap()]);
        let status = json!({"state": 6});
        let task: Task = decode(json!({"id": "t", "contextId": "", "status": status})).unwrap();
        assert_eq!(task.context_id, None);
        assert_eq!(serde_json::to_value(&task).unwrap().get("contextId"), None);
        let empty = ("id".to_owned(), "is required and must not be empty".to_owned());
        assert_eq!(violations::<Task>(json!({"id": "", "status": status})), [empty]);
    }

    #[test]
    fn an_empty_or_missing_list_of_parts_is_refused() {
        for parts in [json!([]), Value::Null] {
            let found = violations::<Message>(json!({"messageId": "m", "role": 1, "parts": parts}));
            assert_eq!(found[0].0, "parts");
        }
    }

    #[test]
    fn the_list_of_violations_is_bounded() {
        let parts = vec![json!({}); 1000];
        let found = violations::<Message>(json!({"messageId": "m", "role": 1, "parts": parts}));
        assert_eq!(found.len(), MAX_VIOLATIONS);
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        for value in [Value::Null, json!([]), json!("x"), json!(1)] {
            assert_eq!(violations::<Message>(value)[0].0, "");
        }
    }
}
