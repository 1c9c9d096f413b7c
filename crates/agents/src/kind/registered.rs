//! Kinds that a Worker registers: executors of its own, in Rust.

use serde_json::{Map, Value};

use super::{Kind, KindContext};
use crate::Problem;

/// `[executor.<kind>]` of a kind that a Worker registers: the settings of the executor.
///
/// The checker does not run the Worker. When the Worker starts, it checks that an executor with this name is registered and
/// that it accepts the settings. An agent whose executor cannot be made refuses messages; the log, `npm start` and `npm
/// test` show the reason, with the file and the line.
#[derive(Debug)]
pub(super) struct RegisteredTable(pub(super) Map<String, Value>);

impl Kind for RegisteredTable {
    /// No problems: only the executor knows the allowed settings.
    fn problems(&self, _: &KindContext<'_>) -> Vec<Problem> {
        Vec::new()
    }

    fn filled_in(&self) -> Vec<(String, &str)> {
        let mut texts = Vec::new();
        for (name, value) in &self.0 {
            collect_texts(value, name.clone(), &mut texts);
        }
        texts
    }
}

/// Adds each text in a value to `texts`, with its key.
fn collect_texts<'a>(value: &'a Value, key: String, texts: &mut Vec<(String, &'a str)>) {
    match value {
        Value::String(text) => texts.push((key, text)),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect_texts(element, format!("{key}[{index}]"), texts);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                collect_texts(member, format!("{key}.{name}"), texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
