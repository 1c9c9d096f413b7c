//! Records the keys that a reader reads, with their types, ranges and choices, as a JSON Schema. So the schemas for editors follow
//! from the readers themselves.
//!
//! A recorded reader reads an empty table. Each of its calls notes the key and the schema of the value. A reader has to make all
//! its calls for an empty table, too: it must not return early because a value is absent.

use serde_json::{Map, Value, json};

use super::Keys;
use super::reader::{Form, Reader, Texts};
use super::schema::{described, with, with_forms};

/// The record of a reader: the table that is being read, and all tables of lists, which are definitions of the schema.
#[derive(Default)]
pub(crate) struct Record {
    table: TableRecord,
    /// The schemas of the elements of lists of tables, by their types.
    pub(crate) definitions: Map<String, Value>,
    /// Keys that are known and not read, and keys that are read and not known.
    pub(crate) misfits: Vec<String>,
}

/// The calls of a reader for one table.
#[derive(Default)]
struct TableRecord {
    known: Option<&'static Keys>,
    read: Map<String, Value>,
    needed: Vec<String>,
    one_of: Vec<Value>,
    /// True for a table of texts with any names.
    has_any_names: bool,
    /// The schema of a table with forms.
    forms: Option<Value>,
}

impl Record {
    /// Runs a reader on an empty table. Returns the schema of the table; its definitions are added to `self`.
    pub(crate) fn table<T>(
        &mut self,
        texts: Texts<'_>,
        read: impl FnOnce(&mut Reader<'_>) -> T,
    ) -> Value {
        let empty = Map::new();
        let mut keys = Reader::recording(&empty, texts, std::mem::take(self));
        let schema = keys.schema_of(read);
        *self = keys.into_record();
        schema
    }

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
    fn finish(&mut self) -> Value {
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

impl<'a> Reader<'a> {
    /// The schema of the table that `read` reads.
    fn schema_of<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Value {
        let outer = self.record().map(|record| std::mem::take(&mut record.table));
        let _defaults: T = read(self);
        let Some(record) = self.record() else { return Value::Null };
        let schema = record.finish();
        record.table = outer.unwrap_or_default();
        schema
    }

    /// Records a nested table.
    pub(super) fn record_below<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> Option<T>) {
        let schema = self.schema_of(read);
        self.note(key, schema);
    }

    /// Records a list of tables of the type `T`. The tables are a definition, because rules contain rules.
    pub(super) fn record_tables<T>(&mut self, key: &str, read: impl Fn(&mut Self) -> Option<T>) {
        let name = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
        let is_new = self.record().is_some_and(|record| !record.definitions.contains_key(name));
        if is_new {
            self.define(name, Value::Null);
            let schema = self.schema_of(read);
            self.define(name, schema);
        }
        let elements = json!({"$ref": format!("#/definitions/{name}")});
        self.note(key, json!({"type": "array", "items": elements}));
    }

    fn define(&mut self, name: &str, schema: Value) {
        if let Some(record) = self.record() {
            record.definitions.insert(name.to_owned(), schema);
        }
    }

    /// Records the forms of a table.
    pub(super) fn record_forms<T>(&mut self, key: &str, forms: &[Form<T>]) {
        let forms = forms.iter().map(|form| {
            let schema = self.schema_of(|keys| {
                keys.only(form.keys);
                (form.read)(keys)
            });
            (form.name, described(form.about.trim(), schema))
        });
        let forms: Vec<(&str, Value)> = forms.collect();
        if let Some(record) = self.record() {
            record.table.forms = Some(with_forms(key, &forms));
        }
    }
}
