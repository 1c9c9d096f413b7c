//! Reads files `SKILL.md` in the format of Agent Skills: a front matter in YAML with `name` and `description`, followed by instructions,
//! which cards do not contain. Requires the feature `markdown`.

use yaml_rust2::{Yaml, YamlLoader};

use crate::model::{AgentSkill, FieldViolation};

/// Reads the skill from a file `SKILL.md`: `name`, `description`, and optionally `tags` (default: the words of the name) and `examples`.
/// `tags` and `examples` are at the top level or below `metadata`, each as a list or as a text (`tags`: separated by commas).
///
/// ```
/// use a2a::client::skill_from_markdown;
///
/// let skill = skill_from_markdown("---\nname: pdf-forms\ndescription: Fills in forms.\n---\n# How\n")?;
/// assert_eq!((skill.id.as_str(), skill.name.as_str()), ("pdf-forms", "Pdf Forms"));
/// assert_eq!(skill.tags, ["pdf", "forms"]);
/// # Ok::<(), a2a::model::FieldViolation>(())
/// ```
///
/// # Errors
///
/// The invalid key, and what it must contain; an empty key means the whole file.
pub fn skill_from_markdown(text: &str) -> Result<AgentSkill, FieldViolation> {
    let at = |key: &str, fix: &str| FieldViolation::new(key, fix);
    let front = front_matter(text).ok_or_else(|| {
        at("", "must begin with a front matter: a line `---`, `name: …`, `description: …`, and a line `---`")
    })?;
    let documents = YamlLoader::load_from_str(&front)
        .map_err(|error| at("", &format!("has a front matter that is no YAML: {error}")))?;
    let front = documents.first().filter(|front| front.as_hash().is_some());
    let front = front.ok_or_else(|| at("", "has a front matter without keys"))?;
    let name = text_at(front, "name").ok_or_else(|| at("name", "is needed"))?;
    if !is_name(&name) {
        let fix = format!(
            "must be 1 to 64 lower-case letters and digits, with single hyphens between them, got {name:?}"
        );
        return Err(at("name", &fix));
    }
    let description =
        text_at(front, "description").ok_or_else(|| at("description", "is needed"))?;
    if description.chars().count() > MAX_DESCRIPTION {
        let fix = format!("must have at most {MAX_DESCRIPTION} characters");
        return Err(at("description", &fix));
    }
    let words: Vec<&str> = name.split('-').collect();
    let both =
        |read: fn(&Yaml) -> Option<Vec<String>>| read(front).or_else(|| read(&front["metadata"]));
    let (tags, examples) = (both(tags_at), both(examples_at));
    Ok(AgentSkill {
        name: words.iter().map(|word| capitalized(word)).collect::<Vec<_>>().join(" "),
        description,
        tags: tags.unwrap_or_else(|| words.iter().map(|word| (*word).to_owned()).collect()),
        examples: examples.unwrap_or_default(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        id: name,
    })
}

/// The lines between the first line, `---`, and the next line `---`.
fn front_matter(text: &str) -> Option<String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    lines.next().filter(|first| first.trim_end() == "---")?;
    let mut front = String::new();
    for line in lines {
        if line.trim_end() == "---" {
            return Some(front);
        }
        front.push_str(line);
        front.push('\n');
    }
    None
}

/// The text at this key, trimmed; `None` if the text is blank.
fn text_at(front: &Yaml, key: &str) -> Option<String> {
    let text = front[key].as_str().map(str::trim).filter(|text| !text.is_empty());
    text.map(str::to_owned)
}

/// The tags, which the format does not define: a list, or a text with commas.
fn tags_at(front: &Yaml) -> Option<Vec<String>> {
    texts(&front["tags"], |text| text.split(',').map(str::to_owned).collect())
}

/// The examples, which the format does not define: a list, or one text.
fn examples_at(front: &Yaml) -> Option<Vec<String>> {
    texts(&front["examples"], |text| vec![text.to_owned()])
}

fn texts(value: &Yaml, split: fn(&str) -> Vec<String>) -> Option<Vec<String>> {
    let texts = match value {
        Yaml::Array(texts) => texts.iter().filter_map(Yaml::as_str).map(str::to_owned).collect(),
        Yaml::String(text) => split(text),
        _ => Vec::new(),
    };
    let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    let texts: Vec<String> = texts.map(str::to_owned).collect();
    (!texts.is_empty()).then_some(texts)
}

fn is_name(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= 64 && name.split('-').all(is_word)
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The maximum length of a skill's description, in characters.
const MAX_DESCRIPTION: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_skill_by_its_front_matter() {
        let text = "---\nname: pdf-forms\ndescription: >\n  Fills in\n  forms: \"quickly\".\nlicense: MIT\n\
                    metadata:\n  author: ada\n---\n# How\n---\n";
        let skill = skill_from_markdown(text).unwrap();
        assert_eq!((skill.id.as_str(), skill.name.as_str()), ("pdf-forms", "Pdf Forms"));
        assert_eq!(skill.description, "Fills in forms: \"quickly\".");
        assert_eq!(skill.tags, ["pdf", "forms"]);
        for tags in ["tags: [a, b c]", "metadata:\n  tags: a, b c", "tags:\n  - a\n  - b c"] {
            let text = format!("\u{feff}---\r\nname: x\r\ndescription: Y.\r\n{tags}\r\n---\r\n");
            assert_eq!(skill_from_markdown(&text).unwrap().tags, ["a", "b c"], "{tags}");
        }
        assert_eq!(skill.examples, [""; 0]);
        for examples in
            ["examples: [Fill in x.]", "examples: Fill in x.", "metadata: {examples: [Fill in x.]}"]
        {
            let text = format!("---\nname: x\ndescription: Y.\n{examples}\n---\n");
            assert_eq!(skill_from_markdown(&text).unwrap().examples, ["Fill in x."], "{examples}");
        }
    }

    #[test]
    fn what_is_no_skill_is_refused_with_the_key() {
        let long = format!("---\nname: a\ndescription: {}\n---", "x".repeat(1_025));
        for (text, key, reason) in [
            ("# How", "", "must begin with a front matter"),
            ("---\nname: a\n", "", "must begin with a front matter"),
            ("---\n- a\n---", "", "has a front matter without keys"),
            ("---\nname: [\n---", "", "has a front matter that is no YAML"),
            ("---\ndescription: a\n---", "name", "is needed"),
            ("---\nname: Pdf\ndescription: a\n---", "name", "must be 1 to 64 lower-case letters"),
            ("---\nname: a--b\ndescription: a\n---", "name", "must be 1 to 64 lower-case letters"),
            ("---\nname: a\ndescription: ' '\n---", "description", "is needed"),
            (&long, "description", "must have at most 1024 characters"),
        ] {
            let found = skill_from_markdown(text).unwrap_err();
            assert_eq!(found.field, key, "{text}");
            assert!(found.description.starts_with(reason), "{found:?}");
        }
    }
}
