//! Kinds that a Worker registers: an agent whose executor is written in Rust.

use serde_json::{Map, Value};

use super::{Kind, KindContext};
use crate::Problem;

/// `[executor.<kind>]` of a kind that is none of a2a-edge's own: the settings for the executor.
///
/// Whether the Worker has registered an executor under this name, and it takes these settings, is known when the
/// Worker starts: the build does not run it. An agent whose executor cannot be made refuses messages; the log, `npm start`
/// and `npm test` say why, with the file and the line.
#[derive(Debug)]
pub(super) struct RegisteredTable(pub(super) Map<String, Value>);

impl Kind for RegisteredTable {
    /// Only the executor knows what may stand there.
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

/// Adds each text in a value, with its key.
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
