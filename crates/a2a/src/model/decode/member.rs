//! Decodes the members of stored and embedded JSON by their types. `#[derive(Decode)]` writes the calls.
//!
//! A reader that serde derives is compiled as a whole for each type and each way to reach it. Here, only the list of its members
//! is compiled for each type: the code for a text, a number or a list is shared.

use serde_json::{Map, Value};

use super::{Decode, Fields};
use crate::model::Generation;
use crate::sorted::SortedMap;

/// A type of which a member of an object, or an element of a list, is decoded.
///
/// `null` is a value, which only a few types accept; the members of requests are read by the other methods of [`Fields`].
pub trait Member: Sized {
    /// Decodes the value of the member `name`; `None` if it cannot be decoded, with the reasons added to `fields`.
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self>;

    /// The value for a member that is absent; `None` if the member is required.
    fn absent() -> Option<Self> {
        None
    }
}

impl Fields {
    /// A member, required unless its type has a value for an absent one.
    pub fn required<T: Member>(&mut self, name: &str) -> Option<T> {
        match self.nullable(name) {
            Some(value) => T::read(self, name, value),
            None => T::absent().or_else(|| self.missing(name)),
        }
    }

    /// A member, or the value for an absent one.
    pub fn or<T: Member>(&mut self, name: &str, absent: fn() -> T) -> Option<T> {
        match self.nullable(name) {
            Some(value) => T::read(self, name, value),
            None => Some(absent()),
        }
    }

    /// Reads a [required](Self::required) member into its place. Returns false if it cannot be decoded.
    pub fn fill<T: Member>(&mut self, name: &str, place: &mut T) -> bool {
        self.required(name).map(|value| *place = value).is_some()
    }

    /// Reads a member into its place, unless it is absent. Returns false if it cannot be decoded.
    pub fn replace<T: Member>(&mut self, name: &str, place: &mut T) -> bool {
        match self.nullable(name) {
            Some(value) => T::read(self, name, value).map(|value| *place = value).is_some(),
            None => true,
        }
    }

    /// The index of a text in a list of names.
    pub fn choice(&mut self, name: &str, value: &Value, names: &[&str]) -> Option<usize> {
        let found = value.as_str().and_then(|text| names.iter().position(|known| *known == text));
        if found.is_none() {
            return self.wrong(name, &format!("one of {}", names.join(", ")), value);
        }
        found
    }

    /// The index of the member that names the variant of an enum, in a list of the names of the variants.
    pub fn tag(&mut self, name: &str, names: &[&str]) -> Option<usize> {
        let value = self.required::<Value>(name)?;
        self.choice(name, &value, names)
    }

    /// The index of an enum's variant in a list of their names, and the content of the variant: `null` for a text, and the
    /// only member of an object.
    pub fn content(&mut self, name: &str, value: Value, names: &[&str]) -> Option<(usize, Value)> {
        let (variant, content) = match value {
            Value::Object(members) if members.len() == 1 => members.into_iter().next()?,
            Value::String(variant) => (variant, Value::Null),
            other => return self.wrong(name, "a variant", &other),
        };
        self.choice(name, &Value::String(variant), names).map(|index| (index, content))
    }

    /// The object, without members that were read already, as `read` reads it. `what` says what the object must be.
    pub fn rest<T>(&mut self, what: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let decoded = read(&Value::Object(std::mem::take(&mut self.members)));
        if decoded.is_none() {
            self.refuse("", format!("must be {what}"));
        }
        decoded
    }

    /// The elements of a list, each with its name.
    pub(super) fn elements_of(&mut self, name: &str, value: Value) -> Option<Vec<(String, Value)>> {
        let Value::Array(values) = value else { return self.wrong(name, "a list", &value) };
        let named = |(index, value)| (format!("{name}[{index}]"), value);
        Some(values.into_iter().enumerate().map(named).collect())
    }

    /// A number of at least `least` and at most `most`, with its bits as those of an `i64`.
    fn bits(&mut self, name: &str, value: &Value, least: i64, most: u64) -> Option<i64> {
        let number = match value.as_u64() {
            Some(number) => (number <= most).then_some(number.cast_signed()),
            None => value.as_i64().filter(|number| *number >= least),
        };
        if number.is_none() {
            return self.wrong(name, "a whole number", value);
        }
        number
    }
}

impl<T: Decode> Member for T {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        T::decode(&mut fields.nested(name, value)?)
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(fields: &mut Fields) -> Option<Self> {
        T::decode(fields).map(Self::new)
    }
}

impl<T: Member> Member for Option<T> {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::read(fields, name, value).map(Some),
        }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Member> Member for Vec<T> {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        let mut list = Self::new();
        for (name, value) in fields.elements_of(name, value)? {
            list.push(T::read(fields, &name, value)?);
        }
        Some(list)
    }
}

impl<T: Member> Member for SortedMap<String, T> {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        let mut fields = fields.nested(name, value)?;
        let mut entries = Vec::new();
        for (name, value) in std::mem::take(&mut fields.members) {
            let value = T::read(&mut fields, &name, value)?;
            entries.push((name, value));
        }
        Some(entries.into_iter().collect())
    }
}

impl<A: Member, B: Member> Member for (A, B) {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        let elements: [_; 2] = fields.elements_of(name, value)?.try_into().ok()?;
        let [(name_of_a, a), (name_of_b, b)] = elements;
        Some((A::read(fields, &name_of_a, a)?, B::read(fields, &name_of_b, b)?))
    }
}

impl Member for String {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        fields.text(name, value)
    }
}

impl Member for bool {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        let flag = value.as_bool();
        flag.or_else(|| fields.wrong(name, "true or false", &value))
    }
}

impl Member for f64 {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        value.as_f64().or_else(|| fields.wrong(name, "a number", &value))
    }
}

impl Member for Value {
    fn read(_: &mut Fields, _: &str, value: Value) -> Option<Self> {
        Some(value)
    }
}

impl Member for Map<String, Value> {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        fields.nested(name, value).map(|nested| nested.members)
    }
}

impl Member for Generation {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        u64::read(fields, name, value).map(Self)
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Member for $number {
            fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
                fields.bits(name, &value, <$number>::MIN as i64, <$number>::MAX as u64).map(|bits| bits as Self)
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, usize, i64);
