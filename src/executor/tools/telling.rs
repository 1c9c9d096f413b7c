//! The messages of an agent with tools if it cannot make a call: the available tools, the missing arguments, or the
//! reason of a failure.

use serde_json::{Map, Value, json};

use super::offer::Named;
use a2a::model::Part;
use a2a_agents::tool::{Fault, ToolError, example, takes_string};

/// A reason, and the tools that can be called instead: as text for people, and as data for programs.
pub(super) fn what_can_be_asked(tools: &[impl Named], reason: &str) -> Vec<Part> {
    let mut text = format!(
        "{reason}; call a tool by a data part {{\"tool\": \"<name>\", \"arguments\": {{…}}}}. The tools are:"
    );
    let mut listed = Vec::new();
    for tool in tools.iter().take(MAX_LISTED) {
        let (name, description) = (tool.name(), tool.description());
        // Servers may write schemas of any size, so a large example is left out.
        let arguments = Some(example(tool.schema()));
        let arguments = arguments.filter(|shown| shown.to_string().len() <= MAX_EXAMPLE_BYTES);
        let call = json!({"tool": name, "arguments": arguments.unwrap_or_else(|| json!({}))});
        text.push_str(&format!("\n- {name}: {description} Example: {call}"));
        listed.push(json!({"name": name, "description": description, "example": call}));
    }
    if tools.len() > MAX_LISTED {
        text.push_str(&format!("\n- and {} more; see the agent card", tools.len() - MAX_LISTED));
    }
    vec![Part::text(text), Part::data(json!({"tools": listed}))]
}

/// The question for missing or invalid arguments, with the mistakes in the invalid arguments: as text, and as the schema of the
/// answer.
pub(super) fn question(tool: &impl Named, names: &[&str], misfits: &[String]) -> Vec<Part> {
    let schema = tool.schema();
    let described = names.iter().map(|name| {
        let description = property(schema, name).and_then(|property| property.get("description"));
        match description.and_then(Value::as_str) {
            Some(description) => format!("{name} ({})", description.trim_end_matches('.')),
            None => (*name).to_owned(),
        }
    });
    let described = described.collect::<Vec<_>>().join(", ");
    let wanted = wanted(schema, names);
    let strings = names.iter().filter(|name| takes_string(schema, name)).count();
    let answer = example(&wanted);
    let by_text = match (strings, names) {
        (1, [_]) => "a text, or ",
        (1, _) => "a text for the one that is text, or ",
        _ => "",
    };
    let misfits = misfits.iter().map(|misfit| misfit.strip_prefix("arguments.").unwrap_or(misfit));
    let mut text: String = misfits.map(|misfit| format!("{misfit}. ")).collect();
    let name = tool.name();
    text += &format!("{name} needs {described}. Answer with {by_text}a data part such as {answer}");
    vec![Part::text(text), Part::data(wanted)]
}

/// The schema of only these arguments, all of which are required.
pub(super) fn wanted(schema: &Value, names: &[&str]) -> Value {
    let properties = names.iter().map(|name| {
        let property = property(schema, name).cloned().unwrap_or_else(|| json!({}));
        ((*name).to_owned(), property)
    });
    let mut wanted = json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "required": names,
        "additionalProperties": false,
    });
    // The definitions that the properties may refer to.
    for key in ["$defs", "definitions"] {
        if let (Some(definitions), Some(wanted)) = (schema.get(key), wanted.as_object_mut()) {
            wanted.insert(key.to_owned(), definitions.clone());
        }
    }
    wanted
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties").and_then(|all| all.get(name))
}

/// The reason of a failed call, with the party that caused the failure, in plain words.
pub(super) fn failure(tool: &str, error: &ToolError) -> String {
    let text = error.text();
    match error.fault() {
        Fault::Arguments => format!("{tool} was called with wrong arguments: {text}"),
        Fault::Tool => format!("{tool} failed: {text}"),
        Fault::Upstream => format!("{tool} failed because of something that it called: {text}"),
    }
}

/// The largest example in a list of tools, in bytes.
const MAX_EXAMPLE_BYTES: usize = 2_000;

/// The largest number of tools in a list.
const MAX_LISTED: usize = 50;
