//! Translates agents and skills to tools.

use a2a::client::RemoteCard;
use a2a::model::{AgentSkill, fnv1a, read_own};
use serde_json::{Map, Value};

use crate::model::{Annotations, Tool};

/// A tool's name from these words, for example the slug of an agent and the id of a skill: at most 48 characters of
/// `A-Za-z0-9_-`, which every host accepts. If words are cut or changed, a hash is added, so that different words have
/// different names.
///
/// ```
/// use mcp::agents::tool_name;
///
/// assert_eq!(tool_name(&["weather"]), "weather");
/// assert_eq!(tool_name(&["weather", "get_forecast"]), "weather_get_forecast");
/// assert!(tool_name(&["weather", "größer"]).starts_with("weather_gr__er_"));
/// assert_eq!(tool_name(&["x".repeat(90).as_str()]).len(), 48);
/// ```
pub fn tool_name(words: &[&str]) -> String {
    let whole = words.join("_");
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let clean = |letter: char| if is_allowed(letter) { letter } else { '_' };
    let cleaned: String = whole.chars().map(clean).collect();
    if cleaned == whole && (1..=MAX_NAME).contains(&cleaned.len()) {
        return cleaned;
    }
    let mark = format!("_{:08x}", fnv1a(whole.as_bytes()) as u32);
    let kept: String = cleaned.chars().take(MAX_NAME - mark.len()).collect();
    kept + &mark
}

/// The tool with this name for an agent.
pub fn agent_tool(name: &str, card: &RemoteCard) -> Tool {
    let mut description = card.description.trim().to_owned();
    if !card.skills.is_empty() {
        description.push_str("\n\nSkills:");
    }
    for skill in card.skills.iter().take(MAX_SKILLS) {
        description.push_str(&format!("\n- {}: {}", skill.name, skill.description.trim()));
        let examples: Vec<&str> =
            skill.examples.iter().take(MAX_EXAMPLES).map(String::as_str).collect();
        if !examples.is_empty() {
            description.push_str(&format!(" Examples: {}", examples.join(" | ")));
        }
    }
    if card.skills.len() > MAX_SKILLS {
        let more = card.skills.len() - MAX_SKILLS;
        description.push_str(&format!("\n- and {more} more; see the card of the agent"));
    }
    tool(name, &card.name, description, "\"message\"")
}

/// The tool with this name for a skill of an agent. `own` is the schema of the skill's own arguments, if it is known.
/// These are added to the arguments of all agents, and replace arguments with the same name.
pub fn skill_tool(name: &str, card: &RemoteCard, skill: &AgentSkill, own: Option<&Value>) -> Tool {
    let mut description = skill.description.trim().to_owned();
    for example in skill.examples.iter().take(MAX_EXAMPLES) {
        description.push_str(&format!("\nExample: {example}"));
    }
    let agent = &card.name;
    description.push_str(&format!("\n\nA skill of the agent {agent}."));
    if own.is_none() {
        description.push_str(" Other arguments are given to it.");
    }
    let tool = tool(name, &skill.name, description, "");
    match own.and_then(Value::as_object) {
        Some(own) => Tool { input_schema: joined(own.clone(), tool.input_schema), ..tool },
        None => tool,
    }
}

/// The schema of a skill's own arguments, together with those of all agents.
fn joined(mut own: Map<String, Value>, common: Value) -> Value {
    let mut properties =
        own.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, schema) in common.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        if !properties.contains_key(name) {
            properties.insert(name.clone(), schema.clone());
        }
    }
    own.insert("properties".to_owned(), properties.into());
    own.into()
}

/// The schema of the structured content of [`result_of`](super::result_of).
pub fn result_schema() -> Value {
    schema(OUTPUT)
}

fn tool(name: &str, title: &str, description: String, required: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        title: Some(title.to_owned()),
        description: Some(description.trim().chars().take(MAX_DESCRIPTION).collect()),
        input_schema: schema(&INPUT.replace("REQUIRED", required)),
        output_schema: Some(result_schema()),
        annotations: Annotations::default(),
    }
}

/// A schema from its text: the `json!` macro would generate kilobytes of code.
fn schema(text: &str) -> Value {
    read_own(text).unwrap_or_default()
}

const INPUT: &str = r#"{"type": "object", "properties": {
    "message": {"type": "string", "description": "What is to be done, with all that is needed to know; or the answer to a question."},
    "data": {"description": "Structured input, as JSON."},
    "task_id": {"type": "string", "description": "The task to go on with, as an earlier result named it, to answer its question. Not for a new task."},
    "context_id": {"type": "string", "description": "The conversation to go on with in a new task, as an earlier result named it."},
    "message_id": {"type": "string", "description": "An id of your own. Calls with the same id are one message: repeat it when a call is made again after a failure."}
    }, "required": [REQUIRED]}"#;

const OUTPUT: &str = r#"{"type": "object", "properties": {
    "task_id": {"type": "string", "description": "The task, if there is one."},
    "context_id": {"type": "string", "description": "The conversation; give it back to go on with it in a new task."},
    "state": {"type": "string", "enum": ["completed", "input_required", "auth_required", "working", "failed", "rejected", "canceled"]},
    "text": {"type": "string", "description": "What the agent says."},
    "data": {"description": "What the agent gives as data."},
    "question": {"type": "string", "description": "What the agent asks."}
    }, "required": ["state", "text"]}"#;

/// The longest name in characters. Some hosts add the server's name as a prefix, and drop a whole list because of one name
/// above 64 characters.
const MAX_NAME: usize = 48;

/// The largest number of skills in the description of an agent.
const MAX_SKILLS: usize = 30;

const MAX_EXAMPLES: usize = 3;

/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 8_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn card() -> RemoteCard {
        RemoteCard::parse(
            r#"{"name": "Weather", "description": "Knows the weather. ", "version": "1", "capabilities": {},
            "supportedInterfaces": [{"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "skills": [{"id": "now", "name": "Now", "description": "As it is.", "tags": [], "examples": ["Rain?", "Sun?"]}]}"#,
        )
        .unwrap()
    }

    #[test]
    fn an_agent_is_told_with_its_skills() {
        let tool = agent_tool("weather", &card());
        assert_eq!(tool.shown_name(), Some("Weather"));
        let told = "Knows the weather.\n\nSkills:\n- Now: As it is. Examples: Rain? | Sun?";
        assert_eq!(tool.description.as_deref(), Some(told));
        assert_eq!(tool.input_schema["required"], json!(["message"]));
        assert_eq!(tool.input_schema["properties"]["task_id"]["type"], "string");
        assert_eq!(tool.output_schema.unwrap()["required"], json!(["state", "text"]));
    }

    #[test]
    fn a_skill_is_told_with_its_agent() {
        let card = card();
        let tool = skill_tool("now", &card, &card.skills[0], None);
        assert_eq!(tool.shown_name(), Some("Now"));
        let told = "As it is.\nExample: Rain?\nExample: Sun?\n\nA skill of the agent Weather. Other arguments are given to it.";
        assert_eq!(tool.description.as_deref(), Some(told));
        assert_eq!(tool.input_schema["required"], json!([]));
    }

    #[test]
    fn a_skill_shows_its_own_arguments_before_those_of_all_agents() {
        let card = card();
        let own = json!({"type": "object", "properties": {"city": {"type": "string"}, "message": {"type": "integer"}},
            "required": ["city"], "additionalProperties": false});
        let tool = skill_tool("now", &card, &card.skills[0], Some(&own));
        let told = tool.description.unwrap();
        assert!(told.ends_with("A skill of the agent Weather."), "{told}");
        let schema = tool.input_schema;
        let properties: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(properties, ["city", "message", "data", "task_id", "context_id", "message_id"]);
        assert_eq!(schema["properties"]["message"], json!({"type": "integer"}));
        assert_eq!(
            (&schema["required"], &schema["additionalProperties"]),
            (&json!(["city"]), &json!(false))
        );
    }

    proptest! {
        #[test]
        fn every_name_is_one_that_hosts_take(words in prop::collection::vec("\\PC{0,40}", 0..4)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let name = tool_name(&words);
            prop_assert!((1..=48).contains(&name.len()));
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
        }
    }
}
