//! The results of tools.

use serde::Serialize;
use serde_json::Value;

use super::ToolError;
use a2a::model::Part;

/// The result of a call: one or more parts of any kind. Types with one obvious form are converted: a text, a number, a
/// JSON value, a [`Part`], a list of parts.
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
    /// A result with data, from any type that serde serializes as JSON.
    ///
    /// # Errors
    ///
    /// If the data cannot be JSON, as a map whose keys are not text.
    pub fn of(data: &impl Serialize) -> Result<Self, ToolError> {
        let no_json = |error| ToolError::Tool(format!("the result is not JSON: {error}"));
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

    /// The text, if the result consists of one text.
    pub fn text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [part] => part.as_text(),
            _ => None,
        }
    }

    /// The data of the first part with data.
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
    /// An empty list becomes the data `null`.
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
    /// A string becomes text, any other value becomes data.
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

/// Implements the conversion for types that become data.
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

/// The return types of a tool's function: a `Result`, or any type that converts into a [`ToolOutput`].
pub trait IntoAnswer {
    /// Converts the returned value into the answer of the tool.
    ///
    /// # Errors
    ///
    /// The error of the function.
    fn into_answer(self) -> Result<ToolOutput, ToolError>;
}

impl<Output: Into<ToolOutput>, Error: Into<ToolError>> IntoAnswer for Result<Output, Error> {
    fn into_answer(self) -> Result<ToolOutput, ToolError> {
        self.map(Into::into).map_err(Into::into)
    }
}

/// Implements the conversion for types other than `Result`.
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
