//! Checking arguments against the JSON schema of a tool.
//!
//! The part of JSON Schema that tool schemas use; [`check_schema`] refuses a schema that says more,
//! so nothing in it is silently ignored. A full validator would weigh more than the rest of the
//! Worker.

use serde_json::Value;

/// Everything that is wrong with `value`, each as `path: what is wrong`; empty if it fits.
pub fn validate(schema: &Value, value: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    visit(schema, value, "arguments", &mut problems);
    problems
}

/// Every keyword of a schema that [`validate`] would not heed; empty if it heeds all.
pub fn check_schema(schema: &Value) -> Vec<String> {
    let Value::Object(keywords) = schema else {
        return vec!["a schema must be an object".to_owned()];
    };
    let mut problems = Vec::new();
    for (keyword, value) in keywords {
        match keyword.as_str() {
            "properties" => {
                let properties = value.as_object().into_iter().flat_map(|map| map.values());
                problems.extend(properties.flat_map(check_schema));
            }
            "items" => problems.extend(check_schema(value)),
            "additionalProperties" if !value.is_boolean() => {
                problems.push("`additionalProperties` must be true or false".to_owned());
            }
            known if KEYWORDS.contains(&known) => {}
            other => problems.push(format!("unknown keyword `{other}`")),
        }
    }
    problems
}

fn visit(schema: &Value, value: &Value, path: &str, problems: &mut Vec<String>) {
    if let Some(wanted) = schema.get("type") {
        let wanted: Vec<&str> = match wanted {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !wanted.iter().any(|name| is_of_type(value, name)) {
            let got = type_name(value);
            problems.push(format!("{path}: must be of type {}, got {got}", wanted.join(" or ")));
            return;
        }
    }
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        problems.push(format!("{path}: must be one of {}, got {value}", allowed.join(", ")));
    }
    match value {
        Value::Number(number) => {
            check_range(schema, path, number.as_f64(), ("minimum", "maximum"), "", problems);
        }
        Value::String(text) => {
            let length = text.chars().count() as f64;
            let keys = ("minLength", "maxLength");
            check_range(schema, path, Some(length), keys, "length ", problems);
        }
        Value::Array(elements) => {
            let length = elements.len() as f64;
            let keys = ("minItems", "maxItems");
            check_range(schema, path, Some(length), keys, "length ", problems);
            if let Some(items) = schema.get("items") {
                for (index, element) in elements.iter().enumerate() {
                    visit(items, element, &format!("{path}[{index}]"), problems);
                }
            }
        }
        Value::Object(members) => visit_members(schema, members, path, problems),
        Value::Null | Value::Bool(_) => {}
    }
}

fn visit_members(
    schema: &Value,
    members: &serde_json::Map<String, Value>,
    path: &str,
    problems: &mut Vec<String>,
) {
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            problems.push(format!("{path}.{name}: is required"));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, member) in members {
        match properties.and_then(|properties| properties.get(name)) {
            Some(property) => visit(property, member, &format!("{path}.{name}"), problems),
            None if is_closed => {
                let known = properties.into_iter().flat_map(|map| map.keys());
                let known: Vec<&str> = known.map(String::as_str).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                problems.push(format!("{path}.{name}: is not known; known are: {known}"));
            }
            None => {}
        }
    }
}

fn check_range(
    schema: &Value,
    path: &str,
    number: Option<f64>,
    (minimum, maximum): (&str, &str),
    what: &str,
    problems: &mut Vec<String>,
) {
    let Some(number) = number else { return };
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    if let Some(least) = bound(minimum).filter(|least| number < *least) {
        problems.push(format!("{path}: {what}must be {least} or more, got {number}"));
    }
    if let Some(most) = bound(maximum).filter(|most| number > *most) {
        problems.push(format!("{path}: {what}must be {most} or less, got {number}"));
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        other => type_name(value) == other,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What [`validate`] heeds, and the keywords that only describe.
const KEYWORDS: [&str; 17] = [
    "type",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "required",
    "additionalProperties",
    "title",
    "description",
    "default",
    "examples",
    "$schema",
    "properties",
    "items",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 1, "maximum": 3},
                "name": {"type": "string", "minLength": 2, "maxLength": 4},
                "unit": {"enum": ["s", "ms"]},
                "list": {"type": "array", "items": {"type": "number"}, "maxItems": 2},
                "free": {"type": ["string", "null"]},
            },
            "required": ["count"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn fitting_values_are_accepted() {
        assert!(check_schema(&schema()).is_empty());
        for value in [
            json!({"count": 1}),
            json!({"count": 3.0, "name": "abcd", "unit": "ms", "list": [1, 2.5], "free": null}),
        ] {
            assert_eq!(validate(&schema(), &value), Vec::<String>::new());
        }
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_path() {
        for (value, start) in [
            (json!([]), "arguments: must be of type object, got array"),
            (json!({}), "arguments.count: is required"),
            (json!({"count": 0}), "arguments.count: must be 1 or more, got 0"),
            (json!({"count": 4}), "arguments.count: must be 3 or less, got 4"),
            (json!({"count": 1.5}), "arguments.count: must be of type integer"),
            (json!({"count": 1, "name": "a"}), "arguments.name: length must be 2 or more"),
            (json!({"count": 1, "unit": "h"}), "arguments.unit: must be one of \"s\", \"ms\""),
            (json!({"count": 1, "list": [1, "x"]}), "arguments.list[1]: must be of type number"),
            (json!({"count": 1, "list": [1, 2, 3]}), "arguments.list: length must be 2 or less"),
            (json!({"count": 1, "free": 1}), "arguments.free: must be of type string or null"),
            (json!({"count": 1, "more": 1}), "arguments.more: is not known; known are: count"),
        ] {
            let problems = validate(&schema(), &value);
            assert_eq!(problems.len(), 1, "{value}: {problems:?}");
            assert!(problems[0].starts_with(start), "{value}: {problems:?}");
        }
    }

    #[test]
    fn a_schema_that_says_more_is_refused() {
        let schema = json!({"properties": {"a": {"type": "string", "pattern": "x"}}, "oneOf": []});
        assert_eq!(check_schema(&schema), ["unknown keyword `pattern`", "unknown keyword `oneOf`"]);
    }
}
