//! The record of the calls of a reader: the keys that it reads, with their types, ranges and choices, as a JSON Schema.

use serde_json::{Map, Value, json};

use super::Keys;
use super::schema::{described, with};

/// The record of a reader: the table that is being read, and all tables of lists, which are definitions of the schema.
#[derive(Default)]
pub(crate) struct Record {
    pub(super) table: TableRecord,
    /// The schemas of the elements of lists of tables, by their types.
    pub(crate) definitions: Map<String, Value>,
    /// Keys that are known and not read, and keys that are read and not known.
    pub(crate) misfits: Vec<String>,
}

/// The calls of a reader for one table.
#[derive(Default)]
pub(super) struct TableRecord {
    known: Option<&'static Keys>,
    read: Map<String, Value>,
    needed: Vec<String>,
    one_of: Vec<Value>,
    /// True for a table of texts with any names.
    has_any_names: bool,
    /// The schema of a table with forms.
    pub(super) forms: Option<Value>,
}

impl Record {
    pub(super) fn known(&mut self, known: &'static Keys) {
        self.table.known = Some(known);
    }

    pub(super) fn need(&mut self, key: &str) {
        self.table.needed.push(key.to_owned());
    }

    pub(super) fn any_names(&mut self) {
        self.table.has_any_names = true;
    }

    pub(super) fn one_of(&mut self, of: &[&str]) {
        self.table.one_of = of.iter().map(|key| json!({"required": [key]})).collect();
    }

    /// Notes the schema of a value. A later call for the same key knows more about the value.
    pub(super) fn read(&mut self, key: &str, schema: Value) {
        self.table.read.insert(key.to_owned(), schema);
    }

    /// Notes a key of any value, unless more is known about it.
    pub(super) fn read_any(&mut self, key: &str) {
        self.table.read.entry(key).or_insert_with(|| json!({}));
    }

    /// The schema of the table that was read.
    pub(super) fn finish(&mut self) -> Value {
        let TableRecord { known, mut read, needed, one_of, has_any_names, forms } =
            std::mem::take(&mut self.table);
        if let Some(forms) = forms {
            return forms;
        }
        if has_any_names {
            return json!({"type": "object", "additionalProperties": {"type": "string"}});
        }
        let mut properties = Map::new();
        for (name, about) in known.into_iter().flat_map(Keys::each) {
            match read.shift_remove(name) {
                Some(schema) => {
                    properties.insert(name.to_owned(), described(about.trim(), schema));
                }
                None => self.misfits.push(format!("{name} is a key, but nothing reads it")),
            }
        }
        self.misfits.extend(read.keys().map(|name| format!("{name} is read, but is no key")));
        let table = json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        });
        let rules = [("required", json!(needed)), ("oneOf", json!(one_of))].into_iter();
        let rules = rules.filter(|(_, of)| *of != json!([]));
        with(table, rules.map(|(keyword, of)| (keyword.to_owned(), of)))
    }
}

impl Keys {
    /// Each name with its description.
    fn each(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.names.iter().copied().zip(self.about.iter().copied())
    }
}
