//! Runs readers for the record of their calls. So the schemas for editors follow from the readers themselves.
//!
//! A recorded reader reads an empty table. Each of its calls notes the key and the schema of the value. A reader has to make all
//! its calls for an empty table, too: it must not return early because a value is absent.

use serde_json::{Map, Value, json};

use super::reader::{Form, Reader};
use super::schema::{described, with_forms};
use super::{Record, Texts};

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
