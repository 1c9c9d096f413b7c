//! The JSON Schemas of agent files, tool files and `remotes.toml`, for editors.
//!
//! The schemas follow from the code that reads the files: those of derived readers from their types, those of tables that are read
//! key by key from [`Record`]s of their readers. Their dialect is draft 7, the newest one that Taplo supports.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::definition::AgentDefinition;
use crate::HttpToolDefinition;
use crate::kind::executor_schema;
use crate::remote::{McpSettings, RemoteSettings};
use crate::table::{Record, Texts, with_forms};

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
    let mut schema = schema_of::<AgentDefinition>("An agent of a2a-edge");
    let mut executor = executor_schema(record);
    executor["description"] = schema["properties"]["executor"]["description"].take();
    schema["properties"]["executor"] = executor;
    schema["definitions"] = std::mem::take(&mut record.definitions).into();
    schema
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
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema["title"] = title.into();
    schema
}

/// Makes a derived schema readable for editors, and removes what TOML does not have.
fn tidy(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    for (keyword, value) in members.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(tidy),
            ("oneOf" | "anyOf", Value::Array(choices)) => choices.iter_mut().for_each(tidy),
            ("items" | "additionalProperties", value) => tidy(value),
            ("description", Value::String(text)) => *text = text.replace('\n', " "),
            ("type", Value::Array(types)) => types.retain(|name| name != "null"),
            _ => {}
        }
    }
    let is_kept = |keyword: &str, value: &Value| match keyword {
        // The sizes of integers in Rust.
        "format" => false,
        "default" => {
            value.is_boolean()
                || value.is_number()
                || value.as_str().is_some_and(|text| !text.is_empty())
        }
        _ => true,
    };
    members.retain(|keyword, value| is_kept(keyword, value));
    if let Some(choices) = members.get("anyOf").and_then(Value::as_array)
        && let [value, none] = choices.as_slice()
        && none["type"] == "null"
    {
        let value = value.as_object().cloned().unwrap_or_default();
        members.shift_remove("anyOf");
        merge(members, value);
    }
    if let Some(Value::Array(choices)) = members.get("oneOf") {
        let choices = choices.clone();
        members.shift_remove("oneOf");
        merge(members, one_of(choices));
    }
}

/// The schema of an enum: a text, which is one of several words, or a table, whose form is named by a key.
fn one_of(choices: Vec<Value>) -> Map<String, Value> {
    let words: Vec<&Value> = choices.iter().filter_map(|choice| choice.get("const")).collect();
    let schema = if words.len() == choices.len() {
        let about: Vec<&Value> = choices.iter().map(|choice| &choice["description"]).collect();
        json!({"type": "string", "enum": words, "x-taplo": {"docs": {"enumValues": about}}})
    } else {
        let name_of = |choice: &Value| {
            choice["properties"][FORM]["const"].as_str().unwrap_or_default().to_owned()
        };
        let names: Vec<String> = choices.iter().map(name_of).collect();
        with_forms(FORM, names.iter().map(String::as_str).zip(choices).collect())
    };
    schema.as_object().cloned().unwrap_or_default()
}

/// Adds keywords; those that are already there are kept.
fn merge(members: &mut Map<String, Value>, others: Map<String, Value>) {
    for (keyword, value) in others {
        members.entry(keyword).or_insert(value);
    }
}

/// The key that names the form of a table: the kind of a scheme.
const FORM: &str = "kind";

const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

#[cfg(test)]
mod tests;
