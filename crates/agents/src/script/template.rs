//! Texts with placeholders, and the values from a message.

use regex_lite::{Captures, Regex};
use serde_json::Value;

use super::Amount;
use a2a::sorted::SortedMap;

/// The values of placeholders, from a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(SortedMap<String, String>);

impl Values {
    pub(super) fn of(text: &str) -> Self {
        Self(SortedMap::from([("text".to_owned(), text.to_owned())]))
    }

    pub(super) fn capture(&mut self, regex: &Regex, captures: &Captures<'_>) {
        for (index, name) in regex.capture_names().enumerate() {
            let found = captures.get(index).map_or("", |found| found.as_str()).to_owned();
            if let Some(name) = name {
                self.0.insert(name.to_owned(), found.clone());
            }
            self.0.insert(index.to_string(), found);
        }
    }

    /// Fills in the placeholders of a text; unknown placeholders become empty.
    pub fn fill(&self, template: &str) -> String {
        let mut filled = String::with_capacity(template.len());
        for piece in pieces(template) {
            match piece {
                Ok(literal) => filled.push_str(literal),
                Err(name) => filled.push_str(self.0.get(name).map_or("", String::as_str)),
            }
        }
        filled
    }

    /// Fills in the placeholders of every text in a JSON value.
    pub fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(elements) => elements.iter().map(|value| self.fill_json(value)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), self.fill_json(value)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// The number, but at most `most`; `None` if the captured text is not a number.
    pub fn number(&self, amount: &Amount, most: u64) -> Option<u64> {
        let number = match amount {
            Amount::Fixed(number) => *number,
            Amount::Captured(text) => self.fill(text).trim().parse().ok()?,
        };
        Some(number.min(most))
    }
}

/// Splits a template into literal texts (`Ok`) and names of placeholders (`Err`). An unmatched brace is literal text.
pub(super) fn pieces(template: &str) -> Vec<Result<&str, &str>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (literal, from) = rest.split_at(at);
        pieces.push(Ok(literal));
        if let Some(after) = from.strip_prefix("{{") {
            pieces.push(Ok("{"));
            rest = after;
        } else if let Some(after) = from.strip_prefix("}}") {
            pieces.push(Ok("}"));
            rest = after;
        } else if let Some((name, after)) =
            from.strip_prefix('{').and_then(|inside| inside.split_once('}'))
        {
            pieces.push(Err(name));
            rest = after;
        } else {
            pieces.push(Ok(from.get(..1).unwrap_or_default()));
            rest = from.get(1..).unwrap_or_default();
        }
    }
    pieces.push(Ok(rest));
    pieces
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_are_filled_in() {
        let values = Values::of("hi");
        for (template, filled) in [
            ("{text}", "hi"),
            ("a {text} b {text}", "a hi b hi"),
            ("{{text}}", "{text}"),
            ("{none}", ""),
            ("{", "{"),
            ("}", "}"),
            ("x {open", "x {open"),
            ("", ""),
        ] {
            assert_eq!(values.fill(template), filled, "{template}");
        }
        assert_eq!(values.fill_json(&json!({"a": ["{text}", 1]})), json!({"a": ["hi", 1]}));
    }
}
