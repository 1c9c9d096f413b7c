//! Makes skills from tools, from MCP servers and from other agents.

use serde_json::Value;

use super::slugify;
use crate::client::RemoteCard;
use crate::model::AgentSkill;

/// Turns an identifier from code into words. Only letters of ASCII change between upper and lower case.
///
/// ```
/// use a2a::client::humanize;
///
/// assert_eq!(humanize("get_user_name"), "Get user name");
/// assert_eq!(humanize("listHTTPHeaders"), "List HTTP headers");
/// ```
pub fn humanize(name: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (index, letter) in letters.iter().copied().enumerate() {
        let (before, after) =
            (index.checked_sub(1).and_then(|at| letters.get(at)), letters.get(index + 1));
        let is_lower = |letter: Option<&char>| letter.is_some_and(char::is_ascii_lowercase);
        let is_digit = before.is_some_and(char::is_ascii_digit);
        let begins = letter.is_ascii_uppercase()
            && (is_lower(before) || is_digit || (is_lower(after) && index > 0));
        if begins || !letter.is_alphanumeric() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.push(letter);
        }
    }
    words.push(word);
    let is_acronym = |word: &String| {
        word.chars().count() > 1
            && !word.contains(|letter: char| letter.is_ascii_lowercase())
            && word.contains(|letter: char| letter.is_ascii_uppercase())
    };
    let plain = |word: String| if is_acronym(&word) { word } else { word.to_ascii_lowercase() };
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).map(plain).collect();
    capitalized(&words.join(" "))
}

/// The text with its first letter in upper case, if that is a letter of ASCII.
pub fn capitalized(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// Makes a skill from a tool: the tool's name in words, its description, and its category as a tag. The category is the part of the name
/// before the first underscore.
///
/// ```
/// use a2a::client::tool_to_skill;
///
/// let skill = tool_to_skill("user_get", "Gives a user.", vec!["Who is Ada?".to_owned()]);
/// assert_eq!((skill.id.as_str(), skill.name.as_str()), ("user_get", "User get"));
/// assert_eq!(skill.tags, ["user"]);
/// ```
pub fn tool_to_skill(name: &str, description: &str, examples: Vec<String>) -> AgentSkill {
    let category = name.split('_').find(|part| !part.is_empty()).unwrap_or(name);
    AgentSkill {
        id: name.to_owned(),
        name: humanize(name),
        description: description.to_owned(),
        tags: vec![category.to_owned()],
        examples,
        input_modes: Vec::new(),
        output_modes: Vec::new(),
    }
}

/// Makes skills from the tools of an MCP server; their tag is the server's name in the settings. `tools` is the result of `tools/list`, or
/// the list in that result. Entries that are not tools are left out.
///
/// ```
/// use a2a::client::mcp_to_skills;
///
/// let tools = serde_json::json!({"tools": [
///     {"name": "create_issue", "description": "Opens an issue.", "inputSchema": {"type": "object"}},
///     {"name": "search", "title": "Full-text search"},
/// ]});
/// let skills = mcp_to_skills("tracker", &tools);
/// assert_eq!((skills[0].name.as_str(), skills[0].tags.as_slice()), ("Create issue", &["tracker".to_owned()][..]));
/// assert_eq!(skills[1].name, "Full-text search");
/// ```
pub fn mcp_to_skills(server: &str, tools: &Value) -> Vec<AgentSkill> {
    let listed = tools.get("tools").unwrap_or(tools).as_array().into_iter().flatten();
    let skill = |tool: &Value| {
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let name = text(tool.get("name"))?;
        let title = text(tool.get("title")).or_else(|| text(tool.get("annotations")?.get("title")));
        let description = text(tool.get("description")).unwrap_or_default();
        let own = tool_to_skill(&name, &description, Vec::new());
        Some(AgentSkill {
            name: title.unwrap_or(own.name.clone()),
            tags: vec![server.to_owned()],
            ..own
        })
    };
    listed.filter_map(skill).collect()
}

/// The skills of an agent, rewritten for the card of an agent that calls it: each id begins with the slug of the called agent's name, and
/// the slug is also a tag. An agent without skills becomes one skill.
///
/// ```
/// use a2a::client::{RemoteCard, card_to_skills};
///
/// let card = RemoteCard::parse(r#"{"name": "Travel Agent", "version": "1", "capabilities": {}, "description": "Books trips.",
///     "url": "https://travel.example", "skills": [{"id": "book", "name": "Book", "description": "", "tags": ["trip"]}]}"#)?;
/// let skills = card_to_skills(&card);
/// assert_eq!((skills[0].id.as_str(), skills[0].tags.join(" ").as_str()), ("travel_agent_book", "trip travel_agent"));
/// let whole = card_to_skills(&RemoteCard { skills: Vec::new(), ..card });
/// assert_eq!((whole[0].id.as_str(), whole[0].description.as_str()), ("travel_agent", "Books trips."));
/// # Ok::<(), a2a::client::ClientError>(())
/// ```
pub fn card_to_skills(card: &RemoteCard) -> Vec<AgentSkill> {
    let slug = slugify(&card.name);
    if card.skills.is_empty() {
        return vec![AgentSkill {
            id: slug.clone(),
            name: card.name.clone(),
            description: card.description.clone(),
            tags: vec![slug],
            examples: Vec::new(),
            input_modes: card.input_modes.clone(),
            output_modes: card.output_modes.clone(),
        }];
    }
    let skill = |skill: &AgentSkill| {
        let mut skill = skill.clone();
        skill.id = format!("{slug}_{}", skill.id);
        if !skill.tags.contains(&slug) {
            skill.tags.push(slug.clone());
        }
        skill
    };
    card.skills.iter().map(skill).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_programs_are_told_in_words() {
        for (name, words) in [
            ("get_user_name", "Get user name"),
            ("getUserName", "Get user name"),
            ("get-user.name", "Get user name"),
            ("GET_URL", "GET URL"),
            ("parseJSON", "Parse JSON"),
            ("HTTPGet", "HTTP get"),
            ("v2Search", "V2 search"),
            ("__x__", "X"),
            ("über_alles", "über alles"),
            ("", ""),
        ] {
            assert_eq!(humanize(name), words, "{name}");
        }
    }

    #[test]
    fn what_is_no_tool_is_left_out() {
        for (tools, count) in [
            (json!({"tools": [{"name": "a"}, {"title": "b"}, 7, {"name": ""}]}), 1),
            (json!([{"name": "a", "annotations": {"title": "Alpha"}}]), 1),
            (json!({}), 0),
            (json!(null), 0),
        ] {
            assert_eq!(mcp_to_skills("s", &tools).len(), count, "{tools}");
        }
        let titled = mcp_to_skills("s", &json!([{"name": "a", "annotations": {"title": "Alpha"}}]));
        assert_eq!(titled[0].name, "Alpha");
        assert_eq!(tool_to_skill("_x_y", "", Vec::new()).tags, ["x"]);
    }
}
