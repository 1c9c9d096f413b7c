//! Kinds that a Worker registers: an agent whose executor is written in Rust.

use serde_json::{Map, Value};

use super::Kind;
use crate::tool::Tool;
use crate::{AgentDefinition, Misfit, Problem, Table};

/// `[executor.<kind>]` of a kind that is none of a2a-edge's own.
///
/// Whether the Worker has registered an executor under this name, and it takes these settings, is known when the
/// Worker starts: the build does not run it. An agent whose executor cannot be made refuses messages; the log, `npm start`
/// and `npm test` say why, with the file and the line.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredTable {
    /// The name of the kind, under which the Worker registers the executor.
    pub kind: String,
    /// What stands in the table, for the executor alone; empty if the file has no such table.
    pub settings: Map<String, Value>,
}

impl Kind for RegisteredTable {
    fn name(&self) -> &str {
        &self.kind
    }

    fn table(&self) -> Result<Table, Misfit> {
        Table::of(&self.settings)
    }

    /// Only the executor knows what may stand there.
    fn problems(&self, _: &AgentDefinition, _: &[&dyn Tool]) -> Vec<Problem> {
        Vec::new()
    }

    fn filled_in(&self) -> Vec<(String, &str)> {
        let mut texts = Vec::new();
        for (name, value) in &self.settings {
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
