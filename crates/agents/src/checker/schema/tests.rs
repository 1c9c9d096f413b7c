use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::*;
use crate::Problem;
use crate::checker::file::{parse, parse_tool};
use crate::checker::remotes::{check_named, parse_named};

/// A step from a table of a file to a table in it.
#[derive(Clone)]
enum Step {
    /// A key, and the key beside it that names the form of the table.
    Key(Map<String, Value>, String),
    /// An element of a list.
    Element,
}

/// A table of a file, as its schema describes it.
struct Described {
    place: Vec<Step>,
    /// The key that names the form, with the name of the form.
    form: Map<String, Value>,
    keys: BTreeSet<String>,
}

impl Described {
    /// The value of a file with a table at this place that has an unknown key.
    fn file_with_unknown_key(&self) -> Value {
        let mut table = self.form.clone();
        table.insert(UNKNOWN.to_owned(), json!(1));
        self.place.iter().rev().fold(Value::Object(table), |value, step| match step {
            Step::Key(form, key) => {
                let mut table = form.clone();
                table.insert(key.clone(), value);
                Value::Object(table)
            }
            Step::Element => json!([value]),
        })
    }

    /// The place, as `executor.script.rules[]`.
    fn path(&self) -> String {
        let steps = self.place.iter().map(|step| match step {
            Step::Key(_, key) => format!(".{key}"),
            Step::Element => "[]".to_owned(),
        });
        steps.collect::<String>().trim_start_matches('.').to_owned()
    }
}

/// Collects the tables of a schema whose keys are known.
struct Tables<'a> {
    definitions: &'a Value,
    /// The definitions that contain the current place: a rule contains rules.
    open: Vec<&'a str>,
    found: Vec<Described>,
}

impl<'a> Tables<'a> {
    fn of(schema: &'a Value) -> Vec<Described> {
        let definitions = &schema["definitions"];
        let mut tables = Self { definitions, open: Vec::new(), found: Vec::new() };
        tables.collect(schema, &[]);
        tables.found
    }

    fn collect(&mut self, schema: &'a Value, place: &[Step]) {
        if !schema.is_object() {
            return;
        }
        if let Some(name) = schema["$ref"].as_str().map(|to| to.rsplit('/').next().unwrap()) {
            if !self.open.contains(&name) {
                self.open.push(name);
                self.collect(&self.definitions[name], place);
                self.open.pop();
            }
            return;
        }
        schema["anyOf"].as_array().into_iter().flatten().for_each(|it| self.collect(it, place));
        self.collect(&schema["items"], &[place, &[Step::Element]].concat());
        let any_name = schema["propertyNames"]["enum"][0].as_str().unwrap_or("any");
        self.collect(&schema["additionalProperties"], &[place, &[key(any_name)]].concat());
        let mut conditions = schema;
        while conditions.get("if").is_some() {
            let form = conditions["if"]["properties"].as_object().unwrap();
            let form =
                form.iter().map(|(key, name)| (key.clone(), name["const"].clone())).collect();
            self.collect_form(form, &conditions["then"], &schema["properties"], place);
            conditions = &conditions["else"];
        }
        if schema.get("if").is_none() {
            self.collect_form(Map::new(), schema, &schema["properties"], place);
        }
    }

    /// Collects a table of this form. `properties` are those of all forms.
    fn collect_form(
        &mut self,
        form: Map<String, Value>,
        schema: &'a Value,
        properties: &'a Value,
        place: &[Step],
    ) {
        let own = schema["properties"].as_object();
        for (key, property) in own.into_iter().flatten() {
            let property = if *property == json!({}) { &properties[key] } else { property };
            let step = Step::Key(form.clone(), key.clone());
            self.collect(property, &[place, &[step]].concat());
        }
        if schema["additionalProperties"] == false {
            let keys = own.unwrap().keys().cloned().collect();
            self.found.push(Described { place: place.to_vec(), form, keys });
        }
    }
}

fn key(name: &str) -> Step {
    Step::Key(Map::new(), name.to_owned())
}

const UNKNOWN: &str = "unknown_key";

/// The problems of a file, by the name of its schema.
fn problems(schema: &str, file: Value) -> Vec<Problem> {
    let mut whole = match schema {
        "agent.schema.json" => {
            json!({"name": "A", "description": "B", "version": "1", "executor": {"kind": "seats"}})
        }
        _ => json!({}),
    };
    whole.as_object_mut().unwrap().extend(file.as_object().cloned().unwrap());
    let text = toml::to_string(&whole).unwrap();
    let read = match schema {
        "agent.schema.json" => {
            parse("f.toml", "f", &text).map(|agent| agent.executor.problems(&agent.context(&[])))
        }
        "tool.schema.json" => parse_tool("f.toml", "f", &text).map(|_| Vec::new()),
        _ => parse_named("f.toml", &text).map(|named| check_named("f.toml", &named, &[])),
    };
    read.unwrap_or_else(|problem| vec![problem])
}

/// The keys that a problem of an unknown key lists.
fn listed(problem: &Problem) -> Option<BTreeSet<String>> {
    let text = problem.text.as_str();
    if let Some((_, expected)) = text.split_once(&format!("unknown field `{UNKNOWN}`, expected ")) {
        return Some(expected.split('`').skip(1).step_by(2).map(str::to_owned).collect());
    }
    let (_, known) = text.strip_prefix("is no key of ")?.split_once("; there are: ")?;
    Some(known.split(", ").map(str::to_owned).collect())
}

#[test]
fn each_table_has_the_keys_that_its_reader_takes() {
    let mut checked = BTreeSet::new();
    for (name, schema) in schemas() {
        for table in Tables::of(&schema) {
            let path = table.path();
            let problems = problems(name, table.file_with_unknown_key());
            // `[executor]` and `remotes.toml` say in other words what they take.
            if path == "executor" || (name == "remotes.schema.json" && path.is_empty()) {
                assert_eq!(problems.len(), 1, "{path}");
                continue;
            }
            let listed = problems.iter().find_map(listed);
            // The reader of an enum has read its key before.
            let listed = listed.map(|mut keys| {
                keys.extend(table.form.keys().cloned());
                keys
            });
            assert_eq!(listed, Some(table.keys), "{name} {path} {problems:?}");
            checked.insert(format!("{name} {path}"));
        }
    }
    for path in [
        "agent.schema.json ",
        "agent.schema.json access.schemes.any.callers[]",
        "agent.schema.json access.schemes.any.flows.authorizationCode",
        "agent.schema.json capabilities.extensions[]",
        "agent.schema.json executor.http",
        "agent.schema.json executor.model.price",
        "agent.schema.json executor.run",
        "agent.schema.json executor.script.faults[]",
        "agent.schema.json executor.script.rules[].then[]",
        "agent.schema.json executor.script.rules[].when",
        "agent.schema.json skills[]",
        "agent.schema.json tools[]",
        "remotes.schema.json mcp.any.oauth2",
        "remotes.schema.json remote.any.api_key",
        "tool.schema.json ",
    ] {
        assert!(checked.contains(path), "{path:?} {checked:#?}");
    }
}

#[test]
fn each_key_that_a_table_takes_is_read() {
    let mut record = Record::default();
    recorded(&mut record);
    assert_eq!(record.misfits, Vec::<String>::new());
}

#[test]
fn each_key_has_a_description() {
    for (name, schema) in schemas() {
        assert_eq!(undescribed(&schema, name), Vec::<String>::new());
    }
}

/// The paths of properties without a description. Properties with several schemas have one in each of them.
fn undescribed(schema: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path} {key}");
        let is_described = |schema: &Value| {
            schema["description"].as_str().is_some_and(|text| text.ends_with('.'))
                || schema["x-taplo"]["docs"].is_object()
        };
        let choices = property["anyOf"].as_array();
        if !is_described(property) && !choices.is_some_and(|all| all.iter().all(is_described)) {
            found.push(path.clone());
        }
        found.extend(undescribed(property, &path));
    }
    for inner in ["items", "additionalProperties"] {
        found.extend(schema.get(inner).into_iter().flat_map(|schema| undescribed(schema, path)));
    }
    for (name, definition) in schema["definitions"].as_object().into_iter().flatten() {
        found.extend(undescribed(definition, name));
    }
    found
}
