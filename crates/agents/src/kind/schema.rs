//! The JSON Schema of `[executor]`.

use serde_json::{Map, Value, json};

use super::executor::read_run_table;
use super::{
    HttpTable, KindTable, ModelSettings, RemoteTable, ScriptTable, ToolsTable, kinds, read_table,
};
use crate::table::{Record, Texts};

/// Makes the function that records the tables of all kinds.
macro_rules! recorder {
    ($($(#[doc = $about:literal])* $kind:ident = $name:literal, $table:ty;)*) => {
        /// Each kind with its description and the schema of its table.
        fn kinds_of(record: &mut Record) -> Vec<(&'static str, &'static str, Value)> {
            vec![$(($name, concat!($($about),*).trim(), table_of::<$table>(record)),)*]
        }
    };
}

kinds!(recorder);

fn table_of<T: KindTable>(record: &mut Record) -> Value {
    record.table(Texts::Literal, read_table::<T>)
}

/// The schema of `[executor]`. Definitions are added to `record`.
///
/// A kind that a Worker registers has a table of any keys, whose name is the kind.
pub(crate) fn executor_schema(record: &mut Record) -> Value {
    let mut run = record.table(Texts::Literal, read_run_table);
    run["description"] = "The limits of runs, and the recovery of interrupted runs.".into();
    let kinds = kinds_of(record);
    let names: Vec<&str> = kinds.iter().map(|(name, ..)| *name).collect();
    let about: Vec<&str> = kinds.iter().map(|(_, about, _)| *about).collect();
    let kind = json!({
        "description": "The kind of the executor: one of a2a-edge, or the name under which the Worker registers an executor.",
        "anyOf": [
            {"type": "string", "enum": names, "x-taplo": {"docs": {"enumValues": about}}},
            {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$", "not": {"enum": ["run", "rust"]}},
        ],
    });
    // Without a built-in kind there is no table of one.
    let refused = names.iter().map(|name| ((*name).to_owned(), json!(false)));
    let mut conditions = json!({"properties": Map::from_iter(refused)});
    let mut properties = Map::from_iter([("kind".to_owned(), kind), ("run".to_owned(), run)]);
    for (name, about, mut table) in kinds.into_iter().rev() {
        let needed =
            if table.get("required").is_some() { json!(["kind", name]) } else { json!(["kind"]) };
        conditions = json!({
            "if": {"properties": {"kind": {"const": name}}},
            "then": {"properties": {"kind": {}, "run": {}, name: {}}, "required": needed, "additionalProperties": false},
            "else": conditions,
        });
        table["description"] = format!("The settings of `kind = {name:?}`. {about}").into();
        properties.insert(name.to_owned(), table);
    }
    let registered = json!({"type": "object", "description": "The settings of the executor that the Worker registers under this name."});
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "required": ["kind"],
        "additionalProperties": registered,
    });
    for (keyword, value) in conditions.as_object().into_iter().flatten() {
        schema[keyword] = value.clone();
    }
    schema
}
