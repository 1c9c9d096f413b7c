//! Checks arguments against the JSON schema of a tool.
//!
//! Supports the part of JSON Schema (2020-12) that tool schemas use. [`check_schema`] refuses other keywords, so no keyword is
//! silently ignored. A complete validator would be larger than the rest of the Worker.

mod check;

use regex_lite::Regex;
use serde_json::{Map, Value};

use a2a::model::number_text;
use a2a::sorted::sort_by;
pub use check::check_schema;

/// The problems of `value`, each as `path: problem`, at most 20; empty if the value fits.
pub fn validate(schema: &Value, value: &Value) -> Vec<String> {
    validate_as("arguments", schema, value)
}

/// Like [`validate`], for a value with the name `name` instead of `arguments`.
pub fn validate_as(name: &str, schema: &Value, value: &Value) -> Vec<String> {
    let mut visit = Visit { root: schema, problems: Vec::new(), left: MAX_VISITS };
    visit.value(schema, value, name, 0);
    visit.problems
}

/// The schema to which a `$ref` refers; `None` if the same schema does not contain it.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// The state of a walk through a value.
struct Visit<'a> {
    root: &'a Value,
    problems: Vec<String>,
    /// The remaining number of comparisons of a schema with a value.
    left: usize,
}

impl Visit<'_> {
    fn value(&mut self, schema: &Value, value: &Value, path: &str, depth: usize) {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return self.report(path, "is not allowed"),
            _ => return,
        };
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        self.left = self.left.saturating_sub(1);
        if depth > MAX_DEPTH || self.left == 0 {
            return self.report(path, "is nested too deep, or too large, to be checked");
        }
        let is_nullable = keywords.get("nullable") == Some(&Value::Bool(true));
        if value.is_null() && is_nullable {
            return;
        }
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str)
            && let Some(schema) = target(self.root, reference)
        {
            self.value(schema, value, path, depth + 1);
        }
        if let Some(wanted) = keywords.get("type") {
            let wanted: Vec<&str> = match wanted {
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                name => name.as_str().into_iter().collect(),
            };
            if !wanted.iter().any(|name| is_of_type(value, name)) {
                let (wanted, got) = (wanted.join(" or "), type_name(value));
                return self.report(path, &format!("must be of type {wanted}, got {got}"));
            }
        }
        if let Some(Value::Array(allowed)) = keywords.get("enum")
            && !allowed.contains(value)
        {
            let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
            self.report(path, &format!("must be one of {}, got {value}", allowed.join(", ")));
        }
        if let Some(only) = keywords.get("const").filter(|only| *only != value) {
            self.report(path, &format!("must be {only}, got {value}"));
        }
        match value {
            Value::Number(number) => self.number(keywords, number.as_f64(), path),
            Value::String(text) => self.text(keywords, text, path),
            Value::Array(elements) => self.elements(keywords, elements, path, depth),
            Value::Object(members) => self.members(keywords, members, path, depth),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(keywords, value, path, depth);
    }

    fn number(&mut self, keywords: &Map<String, Value>, number: Option<f64>, path: &str) {
        let Some(number) = number else { return };
        self.range(keywords, path, number, ("minimum", "maximum"), "");
        let bound = |key| keywords.get(key).and_then(Value::as_f64);
        if let Some(bound) = bound("exclusiveMinimum").filter(|bound| number <= *bound) {
            self.report_number(path, ("must be more than ", bound, ""), number);
        }
        if let Some(bound) = bound("exclusiveMaximum").filter(|bound| number >= *bound) {
            self.report_number(path, ("must be less than ", bound, ""), number);
        }
        if let Some(step) = bound("multipleOf") {
            let times = number / step;
            // A decimal multiple, as 0.3 of 0.1, is not an exact multiple in floats, so a small error is accepted.
            if (times - times.round()).abs() > 1e-9 * times.abs().max(1.0) {
                self.report_number(path, ("must be a multiple of ", step, ""), number);
            }
        }
    }

    fn text(&mut self, keywords: &Map<String, Value>, text: &str, path: &str) {
        let length = text.chars().count() as f64;
        self.range(keywords, path, length, ("minLength", "maxLength"), "length ");
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str)
            && matches(pattern, text) == Some(false)
        {
            self.report(path, &format!("must match the pattern {pattern}, got {text:?}"));
        }
    }

    fn elements(
        &mut self,
        keywords: &Map<String, Value>,
        elements: &[Value],
        path: &str,
        depth: usize,
    ) {
        self.range(keywords, path, elements.len() as f64, ("minItems", "maxItems"), "length ");
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        for (index, element) in elements.iter().enumerate() {
            let own = first.and_then(|first| first.get(index));
            if let Some(schema) = own.or_else(|| keywords.get("items")) {
                self.value(schema, element, &format!("{path}[{index}]"), depth + 1);
            }
        }
        if keywords.get("uniqueItems") == Some(&Value::Bool(true))
            && let Some(twice) = first_repeated(elements)
        {
            self.report(path, &format!("must not hold anything twice, has two of {twice}"));
        }
    }

    fn members(
        &mut self,
        keywords: &Map<String, Value>,
        members: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        let count = members.len() as f64;
        self.range(keywords, path, count, ("minProperties", "maxProperties"), "number of members ");
        let required = keywords.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                self.report(&format!("{path}.{name}"), "is required");
            }
        }
        let properties = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (name, member) in members {
            let at = format!("{path}.{name}");
            if let Some(schema) = keywords.get("propertyNames") {
                let name = Value::String(name.clone());
                self.value(schema, &name, &format!("the name {at}"), depth + 1);
            }
            let own = properties.and_then(|properties| properties.get(name));
            let by_pattern = patterns.into_iter().flatten();
            let by_pattern = by_pattern.filter(|(pattern, _)| matches(pattern, name) == Some(true));
            let known: Vec<&Value> =
                own.into_iter().chain(by_pattern.map(|(_, own)| own)).collect();
            for schema in &known {
                self.value(schema, member, &at, depth + 1);
            }
            match keywords.get("additionalProperties") {
                Some(Value::Bool(false)) if known.is_empty() => {
                    let names = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                    let names = names.collect::<Vec<_>>().join(", ");
                    let names = if names.is_empty() { "none" } else { &names };
                    self.report(&at, &format!("is not known; known are: {names}"));
                }
                Some(schema) if known.is_empty() => self.value(schema, member, &at, depth + 1),
                Some(_) | None => {}
            }
        }
    }

    /// Checks `allOf`, `anyOf`, `oneOf` and `not`.
    fn combined(&mut self, keywords: &Map<String, Value>, value: &Value, path: &str, depth: usize) {
        let schemas = |key| keywords.get(key).and_then(Value::as_array).map(Vec::as_slice);
        for schema in schemas("allOf").unwrap_or_default() {
            self.value(schema, value, path, depth + 1);
        }
        for (key, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            let Some(schemas) = schemas(key) else { continue };
            let mut misfits: Vec<Vec<String>> =
                schemas.iter().map(|schema| self.tried(schema, value, path, depth)).collect();
            let fitting = misfits.iter().filter(|misfits| misfits.is_empty()).count();
            if fitting > most {
                let count = schemas.len();
                self.report(path, &format!("must fit one of {count} alternatives, fits {fitting}"));
            }
            if fitting > 0 {
                continue;
            }
            // If exactly one alternative has the type of the value, its problems are reported.
            let other_type = format!("{path}: must be of type ");
            let is_meant = |misfits: &&Vec<String>| {
                !misfits.iter().any(|misfit| misfit.starts_with(&other_type))
            };
            match misfits.iter().filter(is_meant).count() {
                1 => misfits.retain(|misfits| is_meant(&misfits)),
                _ => {
                    let first = misfits.iter().filter_map(|misfits| misfits.first());
                    let first = first.take(MAX_ALTERNATIVES).map(String::as_str);
                    let first = first.collect::<Vec<_>>().join(" | ");
                    misfits = vec![vec![format!("{path}: fits no alternative: {first}")]];
                }
            }
            self.problems.extend(misfits.into_iter().flatten());
        }
        if let Some(schema) = keywords.get("not")
            && self.tried(schema, value, path, depth).is_empty()
        {
            self.report(path, &format!("must not be what `not` describes, got {value}"));
        }
    }

    /// The problems of a value by this schema, without reporting them.
    fn tried(&mut self, schema: &Value, value: &Value, path: &str, depth: usize) -> Vec<String> {
        let before = std::mem::take(&mut self.problems);
        self.value(schema, value, path, depth + 1);
        std::mem::replace(&mut self.problems, before)
    }

    fn range(
        &mut self,
        keywords: &Map<String, Value>,
        path: &str,
        number: f64,
        (minimum, maximum): (&str, &str),
        what: &str,
    ) {
        let bound = |key| keywords.get(key).and_then(Value::as_f64);
        if let Some(least) = bound(minimum).filter(|least| number < *least) {
            self.report_number(path, (&format!("{what}must be "), least, " or more"), number);
        }
        if let Some(most) = bound(maximum).filter(|most| number > *most) {
            self.report_number(path, (&format!("{what}must be "), most, " or less"), number);
        }
    }

    /// Reports a number that breaks a rule, which is a number between two texts.
    fn report_number(&mut self, path: &str, (start, bound, end): (&str, f64, &str), number: f64) {
        let (bound, number) = (number_text(bound), number_text(number));
        self.report(path, &format!("{start}{bound}{end}, got {number}"));
    }

    fn report(&mut self, path: &str, problem: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(format!("{path}: {problem}"));
        }
    }
}

/// True if the pattern occurs in the text; `None` if the pattern is not supported. The checker refuses such a pattern in the
/// schema of an own tool; in other schemas it is not checked.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    Regex::new(pattern).ok().map(|regex| regex.is_match(text))
}

/// The first element that is equal to an earlier one.
fn first_repeated(elements: &[Value]) -> Option<&Value> {
    let mut texts: Vec<_> = elements.iter().map(canonical).enumerate().collect();
    sort_by(&mut texts, |(_, one), (_, other)| one.cmp(other));
    let repeated = texts.windows(2).filter_map(|pair| match pair {
        [(_, one), (at, other)] if one == other => Some(*at),
        _ => None,
    });
    elements.get(repeated.min()?)
}

/// The value as text, independent of the order of members.
fn canonical(value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            let member = |(name, value)| format!("{}:{}", Value::String(name), canonical(value));
            let mut members: Vec<String> =
                members.iter().map(|(name, value)| member((name.clone(), value))).collect();
            sort_by(&mut members, String::cmp);
            format!("{{{}}}", members.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
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

/// The maximum number of reported problems.
const MAX_PROBLEMS: usize = 20;

/// The maximum number of alternatives whose problems are reported.
const MAX_ALTERNATIVES: usize = 4;

/// The maximum depth of schemas and values that is checked. A value has at most 100 levels, but a schema may refer to itself.
const MAX_DEPTH: usize = 150;

/// The maximum number of comparisons of a schema with a value: the maximum number of values in a body. Without it, nested
/// alternatives could take exponential time.
const MAX_VISITS: usize = 100_000;

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
    fn combinations_and_references_are_heeded() {
        let schema = json!({
            "type": "object",
            "properties": {
                "shape": {"oneOf": [
                    {"type": "string", "enum": ["none"]},
                    {"$ref": "#/$defs/Circle"},
                ]},
                "id": {"anyOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"type": "null"}]},
                "mode": {"const": "fast"},
                "even": {"multipleOf": 2, "exclusiveMinimum": 0, "exclusiveMaximum": 10},
                "tenths": {"multipleOf": 0.1},
                "unique": {"uniqueItems": true},
                "pair": {"prefixItems": [{"type": "string"}, {"type": "number"}], "items": false},
                "old": {"type": "string", "nullable": true},
                "free": {"type": "object", "additionalProperties": {"type": "boolean"},
                    "patternProperties": {"^n_": {"type": "number"}},
                    "propertyNames": {"maxLength": 4}, "maxProperties": 2},
                "both": {"allOf": [{"minimum": 1}, {"maximum": 2}]},
                "other": {"not": {"type": "string"}},
                "one": {"oneOf": [{"minimum": 1}, {"maximum": 2}]},
                "tree": {"$ref": "#/$defs/Tree"},
            },
            "$defs": {
                "Circle": {
                    "type": "object",
                    "properties": {"radius": {"type": "number"}},
                    "required": ["radius"],
                },
                "Tree": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Tree"}},
            },
        });
        assert_eq!(check_schema(&schema), Vec::<String>::new());
        let fitting = json!({
            "shape": {"radius": 1}, "id": null, "mode": "fast", "even": 8, "tenths": 0.3,
            "unique": [1, "1", {"a": 1}], "pair": ["a", 1], "old": null, "one": 5,
            "free": {"a": true, "n_": 1}, "both": 1, "other": 5, "tree": {"a": {"b": {}}},
        });
        assert_eq!(validate(&schema, &fitting), Vec::<String>::new());
        for (name, value, problem) in [
            ("shape", json!("some"), "arguments.shape: must be one of \"none\", got \"some\""),
            ("shape", json!({}), "arguments.shape.radius: is required"),
            (
                "shape",
                json!(5),
                "arguments.shape: fits no alternative: arguments.shape: must be of \
                type string, got number | arguments.shape: must be of type object, got number",
            ),
            ("id", json!("A"), "arguments.id: must match the pattern ^[a-z]+$, got \"A\""),
            ("mode", json!("slow"), "arguments.mode: must be \"fast\", got \"slow\""),
            ("even", json!(3), "arguments.even: must be a multiple of 2, got 3"),
            ("even", json!(0), "arguments.even: must be more than 0, got 0"),
            ("even", json!(10), "arguments.even: must be less than 10, got 10"),
            (
                "unique",
                json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
                "arguments.unique: must not hold \
                anything twice, has two of {\"b\":2,\"a\":1}",
            ),
            ("pair", json!(["a", "b"]), "arguments.pair[1]: must be of type number, got string"),
            ("pair", json!(["a", 1, 2]), "arguments.pair[2]: is not allowed"),
            ("free", json!({"a": 1}), "arguments.free.a: must be of type boolean, got number"),
            (
                "free",
                json!({"n_1": true}),
                "arguments.free.n_1: must be of type number, got boolean",
            ),
            (
                "free",
                json!({"abcde": true}),
                "the name arguments.free.abcde: length must be 4 or less, got 5",
            ),
            (
                "free",
                json!({"a": true, "b": true, "c": true}),
                "arguments.free: number of members must be 2 or less, got 3",
            ),
            ("both", json!(3), "arguments.both: must be 2 or less, got 3"),
            ("other", json!("a"), "arguments.other: must not be what `not` describes, got \"a\""),
            ("one", json!(1.5), "arguments.one: must fit one of 2 alternatives, fits 2"),
            (
                "tree",
                json!({"a": {"b": 1}}),
                "arguments.tree.a.b: must be of type object, got number",
            ),
        ] {
            assert_eq!(validate(&schema, &json!({name: value})), [problem]);
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_without_end_is_given_up() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
            json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        ] {
            assert_eq!(check_schema(&schema), Vec::<String>::new());
            let problems = validate(&schema, &json!({}));
            assert!(problems[0].contains("nested too deep"), "{problems:?}");
            assert!(problems.len() <= MAX_PROBLEMS);
        }
    }

    #[test]
    fn of_many_problems_some_are_told() {
        let schema = json!({"items": {"type": "string"}});
        let problems = validate(&schema, &(0..1_000).collect());
        assert_eq!(problems.len(), MAX_PROBLEMS);
    }
}
