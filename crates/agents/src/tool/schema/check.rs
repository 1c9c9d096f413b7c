//! Checks schemas for keywords that [`validate`](super::validate) does not support.

use regex_lite::Regex;
use serde_json::Value;

use super::target;

/// The keywords of a schema that [`validate`](super::validate) does not support, and invalid values of keywords; empty
/// if the schema is supported completely.
pub fn check_schema(schema: &Value) -> Vec<String> {
    let mut check = Check { root: schema, problems: Vec::new() };
    match schema {
        Value::Object(_) => check.schema(schema, "", 0),
        _ => check.problems.push("a schema must be an object".to_owned()),
    }
    check.problems
}

struct Check<'a> {
    root: &'a Value,
    problems: Vec<String>,
}

/// The type of a keyword's value.
#[derive(Clone, Copy)]
enum Holds {
    Anything,
    Types,
    Text,
    Pattern,
    Reference,
    Flag,
    Number,
    /// A number above zero.
    Step,
    /// A whole number that is 0 or more.
    Count,
    List,
    Names,
    Schema,
    Schemas,
    NamedSchemas,
    PatternSchemas,
}

impl Check<'_> {
    fn schema(&mut self, schema: &Value, at: &str, depth: usize) {
        let keywords = match schema {
            Value::Object(keywords) if depth <= MAX_DEPTH => keywords,
            Value::Bool(_) => return,
            Value::Object(_) => return self.report(at, "is nested too deep".to_owned()),
            _ => return self.report(at, "must be a schema: an object, true or false".to_owned()),
        };
        for (keyword, value) in keywords {
            let at = if at.is_empty() { keyword.clone() } else { format!("{at}.{keyword}") };
            match KEYWORDS.iter().find(|(known, _)| known == keyword) {
                Some((_, holds)) => self.keyword(*holds, value, &at, depth),
                None if keyword.starts_with("x-") => {}
                None => self.problems.push(if at == *keyword {
                    format!("unknown keyword `{keyword}`")
                } else {
                    format!("unknown keyword `{keyword}` at `{at}`")
                }),
            }
        }
    }

    fn keyword(&mut self, holds: Holds, value: &Value, at: &str, depth: usize) {
        let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
        let mut must = |holds_it: bool, what: &str| {
            if !holds_it {
                self.problems.push(format!("`{at}` must be {what}"));
            }
        };
        match holds {
            Holds::Anything => {}
            Holds::Types => {
                let fits = match value {
                    Value::Array(names) => !names.is_empty() && names.iter().all(is_type),
                    name => is_type(name),
                };
                must(fits, &format!("one of {}, or a list of these", TYPES.join(", ")));
            }
            Holds::Text => must(value.is_string(), "text"),
            Holds::Pattern => {
                let reason = value.as_str().map(|pattern| Regex::new(pattern).err());
                match reason {
                    Some(None) => {}
                    Some(Some(reason)) => {
                        must(false, &format!("a regular expression of linear time: {reason}"));
                    }
                    None => must(false, "a regular expression"),
                }
            }
            Holds::Reference => {
                let found = value.as_str().and_then(|reference| target(self.root, reference));
                let what = "a place in the same schema, as `#/$defs/name`, that there is";
                if found.is_none() {
                    self.problems.push(format!("`{at}` must be {what}, got {value}"));
                }
            }
            Holds::Flag => must(value.is_boolean(), "true or false"),
            Holds::Number => must(value.is_number(), "a number"),
            Holds::Step => must(value.as_f64().is_some_and(|step| step > 0.0), "a number above 0"),
            Holds::Count => must(value.is_u64(), "a whole number from 0 on"),
            Holds::List => must(value.is_array(), "a list"),
            Holds::Names => {
                let names = value.as_array().map(|names| names.iter().all(Value::is_string));
                must(names == Some(true), "a list of names");
            }
            Holds::Schema => self.schema(value, at, depth + 1),
            Holds::Schemas => match value.as_array() {
                Some(schemas) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        self.schema(schema, &format!("{at}[{index}]"), depth + 1);
                    }
                }
                None => must(false, "a list of schemas"),
            },
            Holds::NamedSchemas | Holds::PatternSchemas => match value.as_object() {
                Some(schemas) => {
                    for (name, schema) in schemas {
                        let at = format!("{at}.{name}");
                        if matches!(holds, Holds::PatternSchemas) {
                            self.keyword(Holds::Pattern, &name.as_str().into(), &at, depth);
                        }
                        self.schema(schema, &at, depth + 1);
                    }
                }
                None => must(false, "an object of schemas"),
            },
        }
    }

    fn report(&mut self, at: &str, problem: String) {
        self.problems.push(format!("`{at}` {problem}"));
    }
}

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// The maximum nesting of schemas.
const MAX_DEPTH: usize = 64;

/// The keywords that [`validate`](super::validate) checks, and keywords that only describe.
const KEYWORDS: [(&str, Holds); 50] = [
    ("type", Holds::Types),
    ("nullable", Holds::Flag),
    ("enum", Holds::List),
    ("const", Holds::Anything),
    ("minimum", Holds::Number),
    ("maximum", Holds::Number),
    ("exclusiveMinimum", Holds::Number),
    ("exclusiveMaximum", Holds::Number),
    ("multipleOf", Holds::Step),
    ("minLength", Holds::Count),
    ("maxLength", Holds::Count),
    ("pattern", Holds::Pattern),
    ("items", Holds::Schema),
    ("prefixItems", Holds::Schemas),
    ("minItems", Holds::Count),
    ("maxItems", Holds::Count),
    ("uniqueItems", Holds::Flag),
    ("properties", Holds::NamedSchemas),
    ("patternProperties", Holds::PatternSchemas),
    ("additionalProperties", Holds::Schema),
    ("propertyNames", Holds::Schema),
    ("minProperties", Holds::Count),
    ("maxProperties", Holds::Count),
    ("required", Holds::Names),
    ("allOf", Holds::Schemas),
    ("anyOf", Holds::Schemas),
    ("oneOf", Holds::Schemas),
    ("not", Holds::Schema),
    ("$ref", Holds::Reference),
    ("$defs", Holds::NamedSchemas),
    ("definitions", Holds::NamedSchemas),
    // These keywords only describe. Formats are not checked, which is the default in the specification of JSON Schema.
    ("format", Holds::Text),
    ("title", Holds::Text),
    ("description", Holds::Text),
    ("default", Holds::Anything),
    ("example", Holds::Anything),
    ("examples", Holds::Anything),
    ("deprecated", Holds::Flag),
    ("readOnly", Holds::Flag),
    ("writeOnly", Holds::Flag),
    ("contentEncoding", Holds::Text),
    ("contentMediaType", Holds::Text),
    ("discriminator", Holds::Anything),
    ("externalDocs", Holds::Anything),
    ("xml", Holds::Anything),
    ("$schema", Holds::Text),
    ("$id", Holds::Text),
    ("$comment", Holds::Text),
    ("id", Holds::Text),
    ("$vocabulary", Holds::Anything),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_says_more_than_is_heeded_or_makes_no_sense_is_refused() {
        for (schema, problem) in [
            (json!(true), "a schema must be an object"),
            (json!({"if": {}}), "unknown keyword `if`"),
            (
                json!({"properties": {"a": {"items": {"contains": {}}}}}),
                "unknown keyword `contains` at `properties.a.items.contains`",
            ),
            (json!({"anyOf": [{"then": {}}]}), "unknown keyword `then` at `anyOf[0].then`"),
            (json!({"$defs": {"a": {"else": {}}}}), "unknown keyword `else` at `$defs.a.else`"),
            (json!({"type": "text"}), "`type` must be one of string, number"),
            (json!({"type": []}), "`type` must be one of string, number"),
            (json!({"pattern": "("}), "`pattern` must be a regular expression of linear time"),
            (json!({"pattern": "(?=a)"}), "`pattern` must be a regular expression of linear time"),
            (json!({"patternProperties": {"[": {}}}), "`patternProperties.[` must be a regular"),
            (json!({"$ref": "#/$defs/a"}), "`$ref` must be a place in the same schema"),
            (json!({"$ref": "http://a"}), "`$ref` must be a place in the same schema"),
            (json!({"exclusiveMinimum": true}), "`exclusiveMinimum` must be a number"),
            (json!({"multipleOf": 0}), "`multipleOf` must be a number above 0"),
            (json!({"maxLength": -1}), "`maxLength` must be a whole number from 0 on"),
            (json!({"items": [{}]}), "`items` must be a schema: an object, true or false"),
            (json!({"required": "a"}), "`required` must be a list of names"),
        ] {
            let problems = check_schema(&schema);
            assert_eq!(problems.len(), 1, "{schema}: {problems:?}");
            assert!(problems[0].starts_with(problem), "{schema}: {problems:?}");
        }
    }

    #[test]
    fn what_is_heeded_or_only_describes_is_accepted() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": ["object", "null"], "nullable": true, "title": "T", "x-order": 1,
            "properties": {
                "a": {"$ref": "#/$defs/A"},
                "b": {"type": "string", "format": "date-time", "pattern": "^\\d+$"},
                "c": {"anyOf": [{"const": 1}, {"not": {"multipleOf": 0.5}}], "default": 1},
                "d": {"type": "array", "prefixItems": [{}], "items": false, "uniqueItems": true},
            },
            "patternProperties": {"^x": true},
            "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
            "propertyNames": {"maxLength": 5}, "minProperties": 1,
            "$defs": {"A": {"allOf": [{"$ref": "#"}]}},
        });
        assert_eq!(check_schema(&schema), Vec::<String>::new());
    }

    #[test]
    fn a_schema_that_is_nested_without_end_is_refused() {
        let mut schema = json!({});
        for _ in 0..100 {
            schema = json!({"not": schema});
        }
        assert_eq!(check_schema(&schema).len(), 1);
    }
}
