//! The JSON Schemas of agent files, tool files and `remotes.toml`, for editors.
//!
//! The schemas follow from the code that reads the files: those of derived readers from their types, those of tables that are read
//! key by key from a `Record` of the calls of their readers. Their dialect is draft 7, the newest one that Taplo supports.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::definition::AgentDefinition;
use crate::HttpToolDefinition;
use crate::kind::executor_schema;
use crate::remote::{McpSettings, RemoteSettings};
use crate::table::schema::{described, members_of, with, with_forms, words};
use crate::table::{Record, Texts};

/// The schemas, each with the name of its file.
pub fn schemas() -> [(&'static str, Value); 3] {
    recorded(&mut Record::default())
}

fn recorded(record: &mut Record) -> [(&'static str, Value); 3] {
    [
        ("agent.schema.json", agent_schema(record)),
        ("tool.schema.json", schema_of::<HttpToolDefinition>("A tool of a2a-edge")),
        ("remotes.schema.json", remotes_schema(record)),
    ]
}

fn agent_schema(record: &mut Record) -> Value {
    let mut schema = members_of(schema_of::<AgentDefinition>("An agent of a2a-edge"));
    let executor = executor_schema(record);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let about = "The executor, which answers messages: its kind, and the table of the kind.";
        properties.insert("executor".to_owned(), described(about, executor));
    }
    let definitions = std::mem::take(&mut record.definitions).into();
    with(schema.into(), [("definitions".to_owned(), definitions)])
}

fn remotes_schema(record: &mut Record) -> Value {
    let tables = |about: &str, of: Value| json!({"type": "object", "description": about, "additionalProperties": of});
    let remote = record.table(Texts::Unfilled, RemoteSettings::read);
    let mcp = record.table(Texts::Unfilled, McpSettings::read);
    json!({
        "$schema": DRAFT,
        "title": "Remote agents and MCP servers of a2a-edge",
        "type": "object",
        "properties": {
            "remote": tables("The remote agents, by their names.", remote),
            "mcp": tables("The MCP servers, by their names.", mcp),
        },
        "additionalProperties": false,
    })
}

/// The schema of a type with a derived reader.
fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    with(tidy(schema), [("title".to_owned(), title.into())])
}

/// Makes a derived schema readable for editors, and removes what TOML does not have.
fn tidy(schema: Value) -> Value {
    let Value::Object(members) = schema else { return schema };
    let tidied = members.into_iter().filter_map(|(keyword, value)| {
        let value = match (keyword.as_str(), value) {
            // The sizes of integers in Rust.
            ("format", _) => return None,
            ("default", value) if !is_shown(&value) => return None,
            ("properties", Value::Object(properties)) => {
                properties.into_iter().map(|(key, schema)| (key, tidy(schema))).collect()
            }
            ("oneOf" | "anyOf", Value::Array(choices)) => choices.into_iter().map(tidy).collect(),
            ("items" | "additionalProperties", value) => tidy(value),
            ("description", Value::String(text)) => text.replace('\n', " ").into(),
            ("type", Value::Array(types)) => without_null(types),
            (_, value) => value,
        };
        Some((keyword, value))
    });
    let mut members: Map<String, Value> = tidied.collect();
    if members.get("oneOf").is_some_and(is_choice_of_keys) {
        return members.into();
    }
    let meant = match (members.shift_remove("oneOf"), members.shift_remove("anyOf")) {
        (Some(Value::Array(choices)), _) => one_of(choices),
        (_, Some(Value::Array(choices))) => any_of(choices),
        _ => return members.into(),
    };
    // The description and the default of a key precede those of its type.
    with(meant, members)
}

/// True for a default that is worth showing: no empty text, no list and no table.
fn is_shown(default: &Value) -> bool {
    match default {
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

fn without_null(mut types: Vec<Value>) -> Value {
    types.retain(|name| name != "null");
    match types.as_mut_slice() {
        [only] => only.take(),
        _ => types.into(),
    }
}

/// The schema of an optional value is that of the value, because a key that is absent has no schema.
fn any_of(mut choices: Vec<Value>) -> Value {
    choices.retain(|choice| *choice != json!({"type": "null"}));
    match choices.as_mut_slice() {
        [only] => only.take(),
        _ => json!({"anyOf": choices}),
    }
}

/// True if a table has exactly one of several keys.
fn is_choice_of_keys(one_of: &Value) -> bool {
    let is_key =
        |choice: &Value| choice.as_object().is_some_and(|choice| choice.keys().eq(["required"]));
    one_of.as_array().is_some_and(|choices| choices.iter().all(is_key))
}

/// The schema of an enum: a text, which is one of several words, or a table, whose form is named by a key.
fn one_of(choices: Vec<Value>) -> Value {
    let of_all = |keyword| choices.iter().filter_map(move |choice| choice.get(keyword)).collect();
    let constants: Vec<&Value> = of_all("const");
    if constants.len() == choices.len() {
        let about: Vec<&Value> = of_all("description");
        return words(&constants, &about);
    }
    let forms = choices.iter().filter_map(|choice| {
        let name = choice.pointer("/properties/kind/const")?.as_str()?;
        Some((name, choice.clone()))
    });
    with_forms("kind", &forms.collect::<Vec<_>>())
}

const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

#[cfg(test)]
mod tests;
