//! The JSON Schema of `[executor]`.

use serde_json::{Map, Value, json};

use super::executor::read_run_table;
use super::{
    HttpTable, KindTable, ModelSettings, RemoteTable, ScriptTable, ToolsTable, kinds, read_table,
};
use crate::table::schema::{described, members_of, with, words};
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
pub(crate) fn executor_schema(record: &mut Record) -> Value {
    let run = record.table(Texts::Literal, read_run_table);
    let run = described("The limits of runs, and the recovery of interrupted runs.", run);
    let kinds = kinds_of(record);
    let names: Vec<&str> = kinds.iter().map(|(name, ..)| *name).collect();
    let about: Vec<&str> = kinds.iter().map(|(_, about, _)| *about).collect();
    let kind = json!({
        "description": "The kind of the executor: one of a2a-edge, or the name under which the Worker registers an executor.",
        "anyOf": [
            words(&names, &about),
            {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$", "not": {"enum": ["run", "rust"]}},
        ],
    });
    let tables = kinds.iter().map(|(name, about, table)| {
        let about = format!("The settings of `kind = {name:?}`. {about}");
        ((*name).to_owned(), described(&about, table.clone()))
    });
    let own = [("kind".to_owned(), kind), ("run".to_owned(), run)].into_iter();
    let executor = json!({
        "type": "object",
        "properties": own.chain(tables).collect::<Map<_, _>>(),
        "required": ["kind"],
    });
    // An executor that a Worker registers has a table of any keys, and no table of another kind. This stands in the conditions,
    // because Taplo shows `additionalProperties` beside the properties of the same schema.
    let refused = names.iter().map(|name| ((*name).to_owned(), json!(false)));
    let own = ["kind", "run"].map(|name| (name.to_owned(), json!({}))).into_iter();
    let registered = json!({
        "properties": own.chain(refused).collect::<Map<_, _>>(),
        "additionalProperties": {"type": "object"},
    });
    let conditions = kinds.iter().rev().fold(registered, |others, (name, _, table)| {
        let is_needed = table.get("required").is_some();
        let needed = if is_needed { vec!["kind", name] } else { vec!["kind"] };
        let keys = json!({"kind": {}, "run": {}, *name: {}});
        json!({
            "if": {"properties": {"kind": {"const": name}}},
            "then": {"properties": keys, "required": needed, "additionalProperties": false},
            "else": others,
        })
    });
    with(executor, members_of(conditions))
}
