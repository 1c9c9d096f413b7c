//! Headers that repeat what the body of a request says, so that proxies need not read it (2026-07-28).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// A value as it travels in `Mcp-Name` and `Mcp-Param-*`: as it is, or in base64 where a header could not hold it, or it
/// looks like base64.
///
/// ```
/// use mcp::client::header_value;
///
/// assert_eq!(header_value("read file"), "read file");
/// assert_eq!(header_value("größe"), "=?base64?Z3LDtsOfZQ==?=");
/// assert_eq!(header_value(" x"), "=?base64?IHg=?=");
/// ```
pub fn header_value(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let is_trimmed = text.trim_matches([' ', '\t']) == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    match is_plain && is_trimmed && !looks_encoded {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

/// An argument of a tool that goes along in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParamHeader {
    /// The name of the header, behind `Mcp-Param-`.
    name: String,
    /// Where the argument is, as the names of nested members.
    path: Vec<String>,
}

impl ParamHeader {
    /// The header for these arguments; `None` if the argument is absent, or none that a header holds.
    pub(super) fn of(&self, arguments: &Value) -> Option<(String, String)> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        let text = match value {
            Value::String(text) => header_value(text),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                // `5.0` is an integer of JSON schema.
                Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.0}"),
                Some(_) | None => number.to_string(),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((format!("Mcp-Param-{}", self.name), text))
    }
}

/// The arguments that a schema wants to have in headers (`x-mcp-header`).
///
/// # Errors
///
/// The rule that the schema breaks. A tool with such a schema cannot be called.
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

/// Looks at a schema and at those within it. `is_reachable`: the way from the root leads through `properties` alone.
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
                    // Their members are names.
                    (
                        "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                        Value::Object(schemas),
                    ) => {
                        for schema in schemas.values() {
                            walk(schema, path, false, found)?;
                        }
                    }
                    // These are values.
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
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What a server reads from a header.
    fn decode(value: &str) -> String {
        let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
        match inner {
            Some(inner) => String::from_utf8(STANDARD.decode(inner).unwrap()).unwrap(),
            None => value.to_owned(),
        }
    }

    proptest! {
        #[test]
        fn any_text_travels_in_a_header(text in any::<String>()) {
            let value = header_value(&text);
            prop_assert!(value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')));
            prop_assert_eq!(value.trim_matches([' ', '\t']), &value);
            prop_assert_eq!(decode(&value), text);
        }
    }

    #[test]
    fn texts_that_look_encoded_are_encoded() {
        for text in ["=?base64?eA==?=", "=?base64??=", "a\nb", "tab\t", "\u{7f}"] {
            assert!(header_value(text).starts_with("=?base64?"), "{text}");
            assert_eq!(decode(&header_value(text)), text);
        }
    }

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
