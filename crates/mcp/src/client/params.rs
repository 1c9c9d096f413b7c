//! Arguments that are also sent in headers, so that proxies need not read the body (2026-07-28): `Mcp-Param-*`.

use serde_json::{Map, Value};

use crate::header;

/// An argument of a tool that is also sent in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParamHeader {
    /// The name of the header, after `Mcp-Param-`.
    name: String,
    /// The path of the argument, as the names of nested members.
    path: Vec<String>,
}

impl ParamHeader {
    /// The header for these arguments; `None` if the argument is absent, or if its value cannot be sent in a header.
    pub(super) fn of(&self, arguments: &Value) -> Option<(String, String)> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        let text = match value {
            Value::String(text) => header::encode(text),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                // `5.0` is an integer in JSON Schema.
                Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => {
                    (float as i64).to_string()
                }
                Some(_) | None => number.to_string(),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((format!("Mcp-Param-{}", self.name), text))
    }
}

/// The arguments that a schema requires in headers (`x-mcp-header`).
///
/// # Errors
///
/// The violated rule. A tool with such a schema cannot be called.
pub(super) fn param_headers(schema: &Value) -> Result<Vec<ParamHeader>, String> {
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), true, &mut found)?;
    for (index, header) in found.iter().enumerate() {
        let is_same = |other: &ParamHeader| other.name.eq_ignore_ascii_case(&header.name);
        if found.iter().take(index).any(is_same) {
            return Err(format!("two of its properties have the x-mcp-header {}", header.name));
        }
    }
    Ok(found)
}

/// Searches a schema and its inner schemas. `is_reachable`: the path from the root consists only of `properties`.
fn walk(
    schema: &Value,
    path: &mut Vec<String>,
    is_reachable: bool,
    found: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    match schema {
        Value::Object(members) => {
            if let Some(name) = members.get(KEYWORD) {
                found.push(declared(name, members, path, is_reachable)?);
            }
            for (keyword, value) in members {
                match (keyword.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        for (name, property) in properties {
                            path.push(name.clone());
                            walk(property, path, is_reachable, found)?;
                            path.pop();
                        }
                    }
                    // The members of these keywords have free names.
                    (
                        "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                        Value::Object(schemas),
                    ) => {
                        for schema in schemas.values() {
                            walk(schema, path, false, found)?;
                        }
                    }
                    // The content of these keywords is not a schema.
                    ("const" | "default" | "enum" | "examples", _) => {}
                    (_, other) => walk(other, path, false, found)?,
                }
            }
            Ok(())
        }
        Value::Array(schemas) => {
            schemas.iter().try_for_each(|schema| walk(schema, path, false, found))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn declared(
    name: &Value,
    property: &Map<String, Value>,
    path: &[String],
    is_reachable: bool,
) -> Result<ParamHeader, String> {
    let place = path.join(".");
    if !is_reachable || path.is_empty() {
        return Err(format!("an x-mcp-header at \"{place}\", which is no plain property"));
    }
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let name = name.as_str().filter(|name| !name.is_empty() && name.bytes().all(is_token));
    let Some(name) = name else {
        return Err(format!("the x-mcp-header of \"{place}\" is no name of a header"));
    };
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => {
            Ok(ParamHeader { name: name.to_owned(), path: path.to_vec() })
        }
        _ => {
            Err(format!("the x-mcp-header of \"{place}\", which is no string, integer or boolean"))
        }
    }
}

const KEYWORD: &str = "x-mcp-header";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
        let found = param_headers(schema).expect("a schema that keeps to the rules");
        found.iter().filter_map(|header| header.of(arguments)).collect()
    }

    #[test]
    fn arguments_go_along_in_the_headers_that_the_schema_names() {
        let property = |kind: &str, name: &str| json!({"type": kind, KEYWORD: name});
        let schema = json!({"type": "object", "properties": {
            "region": property("string", "Region"), "count": property("integer", "Count"),
            "dry": property("boolean", "Dry-Run"), "where": {"type": "object", "properties": {"city": property("string", "City")}},
            KEYWORD: {"type": "string"}, "free": {"type": "string", "default": {KEYWORD: 7}},
        }});
        let arguments = json!({"region": "eu-west 1", "count": 5, "dry": false, "where": {"city": "Köln"}, KEYWORD: "x"});
        let expected = [
            ("Region", "eu-west 1"),
            ("Count", "5"),
            ("Dry-Run", "false"),
            ("City", "=?base64?S8O2bG4=?="),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, value)| (format!("Mcp-Param-{name}"), (*value).to_owned()))
            .collect();
        assert_eq!(headers(&schema, &arguments), expected);
        for (arguments, count) in [
            (json!({}), 0),
            (json!({"region": null, "where": null}), 0),
            (json!({"region": ["a"], "where": "there"}), 0),
            (json!({"region": ""}), 1),
            (json!(null), 0),
        ] {
            assert_eq!(headers(&schema, &arguments).len(), count, "{arguments}");
        }
        for (number, text) in [
            (json!(5.0), "5"),
            (json!(-7), "-7"),
            (json!(2.5), "2.5"),
            (json!(u64::MAX), "18446744073709551615"),
        ] {
            assert_eq!(headers(&schema, &json!({"count": number}))[0].1, text);
        }
    }

    #[test]
    fn schemas_that_break_a_rule_are_told() {
        let property = |kind: &str, name: Value| json!({"type": kind, KEYWORD: name});
        let object = |properties: Value| json!({"type": "object", "properties": properties});
        for (schema, reason) in [
            (object(json!({"a": property("number", json!("X"))})), "no string, integer or boolean"),
            (object(json!({"a": property("object", json!("X"))})), "no string, integer or boolean"),
            (object(json!({"a": {KEYWORD: "X"}})), "no string, integer or boolean"),
            (object(json!({"a": property("string", json!("x y"))})), "no name of a header"),
            (object(json!({"a": property("string", json!(""))})), "no name of a header"),
            (object(json!({"a": property("string", json!(7))})), "no name of a header"),
            (
                object(
                    json!({"a": property("string", json!("X")), "b": property("string", json!("x"))}),
                ),
                "two of its properties",
            ),
            (
                object(json!({"a": {"type": "array", "items": property("string", json!("X"))}})),
                "no plain property",
            ),
            (
                json!({"type": "object", "anyOf": [object(json!({"a": property("string", json!("X"))}))]}),
                "no plain property",
            ),
            (
                json!({"type": "object", "$defs": {"a": property("string", json!("X"))}}),
                "no plain property",
            ),
            (json!({"type": "string", KEYWORD: "X"}), "no plain property"),
        ] {
            let refused = param_headers(&schema).expect_err(reason);
            assert!(refused.contains(reason), "{schema}: {refused}");
        }
    }
}
