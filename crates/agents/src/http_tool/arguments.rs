//! The arguments of an HTTP tool, as a JSON schema.

use serde_json::{Map, Value, json};

use super::HttpToolDefinition;
use crate::Problem;

/// The JSON schema of the arguments.
///
/// In the short form, an argument is either a text, which describes a required string, or a table of JSON schema. In a
/// table, the default type is `string`, and the argument is required unless it has `optional = true` or a default.
///
/// # Errors
///
/// The key within the tool, and the problem of its value.
pub(super) fn schema_of(definition: &HttpToolDefinition) -> Result<Value, Problem> {
    match (&definition.schema, definition.arguments.is_empty()) {
        (Some(_), false) => {
            Err(Problem::at("schema", "is given beside `arguments`; keep one of the two"))
        }
        (Some(schema), true) if schema.get("type") == Some(&json!("object")) => Ok(schema.clone()),
        (Some(_), true) => Err(Problem::at("schema", "must be a table with type = \"object\"")),
        (None, _) => in_full(&definition.arguments),
    }
}

fn in_full(arguments: &Map<String, Value>) -> Result<Value, Problem> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, argument) in arguments {
        let refuse = |text: &str| Problem::at(format!("arguments.{name}"), text);
        let mut property = match argument {
            Value::String(description) => {
                Map::from_iter([("description".to_owned(), description.clone().into())])
            }
            Value::Object(keywords) => keywords.clone(),
            _ => {
                return Err(refuse(
                    "must be a description, or a table such as { type = \"integer\", optional = true }",
                ));
            }
        };
        let is_optional = match property.remove("optional") {
            None => property.contains_key("default"),
            Some(Value::Bool(is_optional)) => is_optional,
            Some(_) => return Err(refuse("`optional` must be true or false")),
        };
        if !property.contains_key("type") && !property.contains_key("enum") {
            property.insert("type".to_owned(), "string".into());
        }
        properties.insert(name.clone(), property.into());
        if !is_optional {
            required.push(Value::String(name.clone()));
        }
    }
    Ok(
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
    )
}

/// The arguments of a call, and the defaults of the missing ones.
pub(super) fn with_defaults(schema: &Value, arguments: Value) -> Map<String, Value> {
    let Value::Object(mut arguments) = arguments else { return Map::new() };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let (false, Some(default)) = (arguments.contains_key(name), property.get("default")) {
            arguments.insert(name.clone(), default.clone());
        }
    }
    arguments
}
