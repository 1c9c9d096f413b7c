//! Records the keys that a reader reads, with their types, ranges and choices, as a JSON Schema. So the schemas for editors follow
//! from the readers themselves.
//!
//! A recorded reader reads an empty table. Each of its calls notes the key and the schema of the value. A reader has to make all
//! its calls for an empty table, too: it must not return early because a value is absent.

use serde_json::{Map, Value, json};

use super::Keys;
use super::reader::{Form, Reader, Texts};

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

    pub(super) fn forms(&mut self, key: &str, forms: Vec<(&str, Value)>) {
        self.table.forms = Some(with_forms(key, forms));
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
        let mut schema =
            json!({"type": "object", "properties": properties, "additionalProperties": false});
        for (keyword, of) in [("required", json!(needed)), ("oneOf", json!(one_of))] {
            if of != json!([]) {
                schema[keyword] = of;
            }
        }
        schema
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
            let mut schema = self.schema_of(|keys| {
                keys.only(form.keys);
                (form.read)(keys)
            });
            schema["description"] = form.about.trim().into();
            (form.name, schema)
        });
        let forms = forms.collect();
        if let Some(record) = self.record() {
            record.forms(key, forms);
        }
    }
}

/// The schema of a table in one of several forms. The text of `key` is the name of the form.
///
/// The properties are those of all forms, because editors complete only these. The conditions refuse the keys of other forms.
pub(crate) fn with_forms(key: &str, forms: Vec<(&str, Value)>) -> Value {
    let names: Vec<&str> = forms.iter().map(|(name, _)| *name).collect();
    let about: Vec<&Value> = forms.iter().map(|(_, form)| &form["description"]).collect();
    let name = json!({"type": "string", "enum": names, "x-taplo": {"docs": {"enumValues": about}}});
    let mut properties = Map::from_iter([(key.to_owned(), name)]);
    for (name, schemas) in properties_of(key, &forms) {
        let schema = match schemas.as_slice() {
            [same] => (*same).clone(),
            _ => json!({"anyOf": schemas}),
        };
        properties.insert(name.to_owned(), schema);
    }
    let mut conditions = json!({});
    for (name, form) in forms.iter().rev() {
        // What holds in all forms is said once.
        let own = form["properties"].as_object().into_iter().flatten().map(|(name, schema)| {
            let is_said = properties.get(name) == Some(schema) || name == key;
            (name.clone(), if is_said { json!({}) } else { schema.clone() })
        });
        let own = [(key.to_owned(), json!({}))].into_iter().chain(own);
        let mut then = json!({"properties": Map::from_iter(own), "additionalProperties": false});
        for keyword in ["required", "oneOf"] {
            if let Some(value) = form.get(keyword) {
                then[keyword] = value.clone();
            }
        }
        let is_form = json!({"properties": {key: {"const": name}}});
        conditions = json!({"if": is_form, "then": then, "else": conditions});
    }
    let mut schema = json!({"type": "object", "properties": properties, "required": [key]});
    for (keyword, value) in conditions.as_object().into_iter().flatten() {
        schema[keyword] = value.clone();
    }
    schema
}

/// The properties of all forms except `key`, each with its different schemas.
fn properties_of<'a>(key: &str, forms: &'a [(&str, Value)]) -> Vec<(&'a str, Vec<&'a Value>)> {
    let mut properties: Vec<(&str, Vec<&Value>)> = Vec::new();
    let each =
        forms.iter().flat_map(|(_, form)| form["properties"].as_object().into_iter().flatten());
    for (name, schema) in each.filter(|(name, _)| *name != key) {
        match properties.iter_mut().find(|(known, _)| known == name) {
            Some((_, schemas)) if schemas.contains(&schema) => {}
            Some((_, schemas)) => schemas.push(schema),
            None => properties.push((name, vec![schema])),
        }
    }
    properties
}

/// Adds the description to the schema of a value.
fn described(about: &str, schema: Value) -> Value {
    let mut described = Map::from_iter([("description".to_owned(), about.into())]);
    described.extend(schema.as_object().cloned().unwrap_or_default());
    described.into()
}

/// The schema of a value that may also be a text with `${NAME}`, if placeholders are filled in. `written` is the pattern of other
/// texts for the value.
pub(super) fn or_filled(texts: Texts<'_>, written: &str, schema: Value) -> Value {
    if matches!(texts, Texts::Literal) {
        return schema;
    }
    json!({"anyOf": [schema, {"type": "string", "pattern": format!(r"{written}\$\{{")}]})
}
