//! What a tool gives.

use serde::Serialize;
use serde_json::Value;

use super::ToolError;
use a2a::model::Part;

/// The result of a call: one part or several, of any kind. Whatever has one obvious form converts into it: a text,
/// a number, a JSON value, a [`Part`], a list of parts.
///
/// ```
/// use a2a_agents::model::Part;
/// use a2a_agents::tool::ToolOutput;
/// use serde_json::json;
///
/// let plain = ToolOutput::from("21 degrees");
/// assert_eq!(plain.text(), Some("21 degrees"));
/// let several = ToolOutput::from([
///     Part::data(json!({"degrees": 21})),
///     Part::raw(b"\x89PNG", "image/png").with_filename("map.png"),
///     Part::url("https://example.com/lisbon"),
/// ]);
/// assert_eq!(several.parts().len(), 3);
/// assert_eq!(several.data(), Some(json!({"degrees": 21})));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput(Vec<Part>);

impl ToolOutput {
    /// A result of data, from anything that serde writes as JSON.
    ///
    /// # Errors
    ///
    /// If it is no JSON: a map with keys other than text.
    pub fn of(data: &impl Serialize) -> Result<Self, ToolError> {
        let no_json = |error| ToolError::Tool(format!("the result is no JSON: {error}"));
        serde_json::to_value(data).map(Self::from).map_err(no_json)
    }

    /// The parts, at least one.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The parts, at least one.
    pub fn into_parts(self) -> Vec<Part> {
        self.0
    }

    /// The text, if the result is one text.
    pub fn text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [part] => part.as_text(),
            _ => None,
        }
    }

    /// The data of the first part that has any.
    pub fn data(&self) -> Option<Value> {
        self.0.iter().find_map(Part::as_data)
    }

    /// The result as one JSON value: data as it is, text as a string, several parts as a list.
    pub fn value(&self) -> Value {
        let value = |part: &Part| match part.as_text() {
            Some(text) => Value::String(text.to_owned()),
            None => part.as_data().or_else(|| serde_json::to_value(part).ok()).unwrap_or_default(),
        };
        match self.0.as_slice() {
            [part] => value(part),
            parts => parts.iter().map(value).collect(),
        }
    }
}

impl From<Vec<Part>> for ToolOutput {
    /// No parts are the data `null`.
    fn from(parts: Vec<Part>) -> Self {
        if parts.is_empty() { Value::Null.into() } else { Self(parts) }
    }
}

impl<const COUNT: usize> From<[Part; COUNT]> for ToolOutput {
    fn from(parts: [Part; COUNT]) -> Self {
        Vec::from(parts).into()
    }
}

impl From<Part> for ToolOutput {
    fn from(part: Part) -> Self {
        Self(vec![part])
    }
}

impl From<Value> for ToolOutput {
    /// A string is text, anything else data.
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => text.into(),
            data => Part::data(data).into(),
        }
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Part::text(text).into()
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Part::text(text).into()
    }
}

/// What is data as it stands.
macro_rules! from_data {
    ($($data:ty),*) => {
        $(impl From<$data> for ToolOutput {
            fn from(data: $data) -> Self {
                Part::data(Value::from(data)).into()
            }
        })*
    };
}

from_data!((), bool, i32, i64, u32, u64, f64, serde_json::Number);

/// What the function of a tool may return: a result, or something that is one at once.
pub trait IntoAnswer {
    /// The answer of the tool.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn into_answer(self) -> Result<ToolOutput, ToolError>;
}

impl<Output: Into<ToolOutput>, Error: Into<ToolError>> IntoAnswer for Result<Output, Error> {
    fn into_answer(self) -> Result<ToolOutput, ToolError> {
        self.map(Into::into).map_err(Into::into)
    }
}

/// What is an answer without a `Result`.
macro_rules! is_answer {
    ($($output:ty),*) => {
        $(impl IntoAnswer for $output {
            fn into_answer(self) -> Result<ToolOutput, ToolError> {
                Ok(self.into())
            }
        })*
    };
}

is_answer!(
    (),
    bool,
    i32,
    i64,
    u32,
    u64,
    f64,
    serde_json::Number,
    String,
    &str,
    Value,
    Part,
    Vec<Part>,
    ToolOutput
);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_one_obvious_form_converts() {
        for (output, value) in [
            (ToolOutput::from("a"), json!("a")),
            (ToolOutput::from(json!("a")), json!("a")),
            (ToolOutput::from(json!({"a": 1})), json!({"a": 1})),
            (ToolOutput::from(5_u64), json!(5)),
            (ToolOutput::from(()), json!(null)),
            (ToolOutput::from(Vec::new()), json!(null)),
            (ToolOutput::of(&[1, 2]).unwrap(), json!([1, 2])),
            (
                ToolOutput::from([Part::text("a"), Part::url("http://b").with_filename("b")]),
                json!(["a", {"url": "http://b", "filename": "b"}]),
            ),
        ] {
            assert_eq!(output.value(), value);
            assert!(!output.parts().is_empty());
        }
    }
}
