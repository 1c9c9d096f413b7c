//! Kinds that a Worker registers: an agent whose executor is written in Rust.

use serde_json::{Map, Value};

use crate::skills::has_skills;
use crate::{AgentDefinition, Expandable, Problem};

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

impl RegisteredTable {
    pub(super) fn problems(&self, agent: &AgentDefinition) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !has_skills(agent) {
            let fix = format!("an agent of kind {:?} needs at least one `[[skills]]`", self.kind);
            problems.push(Problem::at("skills", fix));
        }
        for (name, value) in &self.settings {
            visit_texts(value, &format!("executor.{}.{name}", self.kind), &mut |key, text| {
                if let Err(fix) = Expandable::parse(text) {
                    problems.push(Problem::at(key.to_owned(), fix));
                }
            });
        }
        problems
    }

    /// The secrets and variables in the settings: who needs them, and their names.
    pub(super) fn needs(&self) -> Vec<(String, String)> {
        let mut needs = Vec::new();
        for value in self.settings.values() {
            visit_texts(value, "", &mut |_, text| {
                let text = Expandable::parse(text);
                let names = text.iter().flat_map(Expandable::values);
                needs
                    .extend(names.map(|name| (format!("executor {}", self.kind), name.to_owned())));
            });
        }
        needs
    }
}

/// Calls `visit` with each text in a value, and its key.
fn visit_texts(value: &Value, key: &str, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(key, text),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                visit_texts(element, &format!("{key}[{index}]"), visit);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                visit_texts(member, &format!("{key}.{name}"), visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
