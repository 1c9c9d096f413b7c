//! Chooses a tool for a plain text, and makes an example of a tool's arguments.

use std::cell::Cell;

use serde_json::{Map, Value, json};

/// The tool for a plain text, and the argument that the text becomes. `tools` contains tools with their schemas. The
/// first tool whose only required argument is a string is chosen, otherwise the first tool without required arguments and
/// with exactly one string.
///
/// With `asks_missing`, the tool may also require other arguments that are not strings: the agent requests them from the
/// client.
pub fn text_argument<'a, T: Copy>(
    tools: &[(T, &'a Value)],
    asks_missing: bool,
) -> Option<(T, &'a str)> {
    let found = |argument: &dyn Fn(&'a Value) -> Option<&'a str>| {
        tools.iter().find_map(|(tool, schema)| Some((*tool, argument(schema)?)))
    };
    found(&|schema| required_string(schema, asks_missing)).or_else(|| found(&only_string))
}

fn required_string(schema: &Value, asks_missing: bool) -> Option<&str> {
    let required = required(schema);
    let strings = required.iter().filter(|name| takes_string(schema, name));
    match strings.copied().collect::<Vec<_>>().as_slice() {
        [only] if required.len() == 1 || asks_missing => Some(only),
        _ => None,
    }
}

fn only_string(schema: &Value) -> Option<&str> {
    let strings = properties(schema).filter(|(_, property)| is_string(property));
    match strings.map(|(name, _)| name).collect::<Vec<_>>().as_slice() {
        [only] if required(schema).is_empty() => Some(only),
        _ => None,
    }
}

/// The names of the arguments that a schema requires, in the order of the schema.
pub fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// True if the argument with this name is a string.
pub fn takes_string(schema: &Value, name: &str) -> bool {
    properties(schema).any(|(known, property)| known == name && is_string(property))
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, property)| (name.as_str(), property))
}

fn is_string(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        Some(name) => name == "string",
        None => false,
    }
}

/// An example of the arguments that a schema requires, each with its default, its example or a simple value of its type.
/// The size of the example is limited for any schema.
pub fn example(schema: &Value) -> Value {
    if let Some(given) = schema.get("examples").and_then(|examples| examples.get(0)) {
        return given.clone();
    }
    example_of(schema, schema, 0, &Cell::new(MAX_VALUES))
}

fn example_of(root: &Value, schema: &Value, depth: usize, left: &Cell<usize>) -> Value {
    let given = ["default", "example", "const"].into_iter().find_map(|key| schema.get(key));
    let given = given.or_else(|| schema.get("examples").and_then(|examples| examples.get(0)));
    if let Some(given) = given.or_else(|| schema.get("enum").and_then(|names| names.get(0))) {
        return given.clone();
    }
    let Some(room) = left.get().checked_sub(1) else { return Value::Null };
    left.set(room);
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    let reference = schema.get("$ref").and_then(Value::as_str);
    if let Some(target) = reference.and_then(|reference| super::schema::target(root, reference)) {
        return example_of(root, target, depth + 1, left);
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| schema.get(key));
    if let Some(first) = alternatives.and_then(|alternatives| alternatives.get(0)) {
        return example_of(root, first, depth + 1, left);
    }
    let name = match schema.get("type") {
        Some(Value::Array(names)) => names.first().and_then(Value::as_str),
        Some(name) => name.as_str(),
        None => None,
    };
    let number = |key| schema.get(key).cloned().filter(Value::is_number);
    match name {
        Some("string") => json!("…"),
        Some("integer" | "number") => number("minimum").unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        Some("array") => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let item = schema.get("items").filter(|_| least > 0);
            item.map(|item| example_of(root, item, depth + 1, left)).into_iter().collect()
        }
        Some("object") => {
            let member = |name: &str| {
                let property = schema.get("properties").and_then(|all| all.get(name));
                let value = property.map(|property| example_of(root, property, depth + 1, left));
                (name.to_owned(), value.unwrap_or_default())
            };
            let required = required(schema);
            // Without required arguments, the example contains the first argument.
            let first = properties(schema).map(|(name, _)| name).next();
            let shown = if required.is_empty() && depth == 0 {
                first.into_iter().collect()
            } else {
                required
            };
            let shown = shown.into_iter().take_while(|_| left.get() > 0);
            Value::Object(shown.map(member).collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}

const MAX_DEPTH: usize = 8;

/// The maximum number of values in an example.
const MAX_VALUES: usize = 500;

#[cfg(test)]
mod tests {
    use super::super::{Tool, ToolCall, arguments, tool};
    use super::*;

    /// Nothing.
    #[tool]
    fn clock(_call: &dyn ToolCall) {}

    /// A number.
    #[tool]
    fn double(number: f64) -> f64 {
        number * 2.0
    }

    /// Two.
    #[tool]
    fn book(city: String, nights: u8) -> String {
        format!("{city} {nights}")
    }

    /// One and another.
    #[tool]
    fn look(#[default("en")] language: String, city: String) -> String {
        language + &city
    }

    /// Maybe one.
    #[tool]
    fn greet(name: Option<String>) -> String {
        name.unwrap_or_default()
    }

    fn of(tools: &[&dyn Tool], asks_missing: bool) -> Option<(String, String)> {
        let tools: Vec<_> = tools.iter().map(|tool| (*tool, tool.input_schema())).collect();
        let found = text_argument(&tools, asks_missing);
        found.map(|(tool, argument)| (tool.name().to_owned(), argument.to_owned()))
    }

    #[test]
    fn a_text_goes_to_the_first_tool_that_wants_one_string() {
        let (clock, double, book, look, greet) = (clock(), double(), book(), look(), greet());
        let pair = |tool: &str, argument: &str| Some((tool.to_owned(), argument.to_owned()));
        let all: [&dyn Tool; 5] = [&clock, &greet, &double, &book, &look];
        assert_eq!(of(&all, false), pair("look", "city"));
        assert_eq!(of(&all, true), pair("book", "city"), "the nights will be asked for");
        assert_eq!(of(&[&clock, &greet], false), pair("greet", "name"));
        assert_eq!(of(&[&clock, &double], true), None);
    }

    /// Of every kind.
    #[arguments]
    #[derive(Debug, PartialEq)]
    struct All {
        text: String,
        #[limit(5..)]
        number: u32,
        flag: bool,
        #[limit(1..)]
        list: Vec<Inner>,
        unit: Unit,
        more: Option<String>,
    }

    #[arguments]
    #[derive(Debug, PartialEq)]
    struct Inner {
        #[default(1.5)]
        size: f64,
        name: String,
    }

    #[arguments]
    #[derive(Debug, PartialEq)]
    enum Unit {
        Celsius,
    }

    #[test]
    fn an_example_has_what_is_required() {
        use super::super::{Argument, validate};
        let schema = All::SHAPE.schema();
        let shown = example(&schema);
        assert_eq!(validate(&schema, &shown), Vec::<String>::new());
        let list = json!([{"name": "…"}]);
        let expected =
            json!({"text": "…", "number": 5, "flag": true, "list": list, "unit": "celsius"});
        assert_eq!(shown, expected);
        assert_eq!(example(greet().input_schema()), json!({"name": "…"}));
        assert_eq!(example(clock().input_schema()), json!({}));
        assert_eq!(example(&json!({"examples": [{"a": 1}]})), json!({"a": 1}));
        assert_eq!(example(&json!({"$ref": "#"})), Value::Null);
    }

    #[test]
    fn an_example_of_a_schema_that_refers_to_itself_many_times_ends() {
        let itself = json!({"$ref": "#"});
        let names: Vec<String> = (0..50).map(|nth| format!("a{nth}")).collect();
        let properties: Map<_, _> =
            names.iter().map(|name| (name.clone(), itself.clone())).collect();
        let schema = json!({"type": "object", "properties": properties, "required": names});
        assert!(example(&schema).to_string().len() < 100_000);
    }
}
