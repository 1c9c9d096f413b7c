//! Files `SKILL.md` in the format of Agent Skills: a front matter in YAML with `name` and `description`, and then
//! instructions, which cards do not show. Only the build reads them.

use std::fs;
use std::path::{Path, PathBuf};

use yaml_rust2::{Yaml, YamlLoader};

use crate::{FileSkill, Problem};
use a2a::model::AgentSkill;

/// The skills of the files in a folder and in those below it, by the paths of the files.
///
/// # Errors
///
/// If there is no such folder, it has no such file, or one cannot be read.
pub(crate) fn read_folder(folder: &str) -> Result<Vec<FileSkill>, Vec<Problem>> {
    let problem =
        |file: &str, fix: String| Problem { file: file.to_owned(), key: String::new(), fix };
    let mut files = Vec::new();
    find(Path::new(folder), 0, &mut files)
        .map_err(|error| vec![problem(folder, format!("cannot be read: {error}"))])?;
    files.sort();
    if files.is_empty() {
        return Err(vec![problem(
            folder,
            "has no file SKILL.md, nor have the folders in it".to_owned(),
        )]);
    }
    if files.len() > MAX_FILES {
        let fix = format!("has {} files SKILL.md; the limit is {MAX_FILES}", files.len());
        return Err(vec![problem(folder, fix)]);
    }
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for path in files {
        let file = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        match text.map_err(|error| (String::new(), error)).and_then(|text| skill_of(&text)) {
            Ok(skill) => found.push(FileSkill { folder: folder.to_owned(), file, skill }),
            Err((key, fix)) => problems.push(Problem { file, key, fix }),
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn find(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_hidden = name.to_string_lossy().starts_with('.');
        if path.is_dir() && !is_hidden && depth < MAX_DEPTH {
            find(&path, depth + 1, files)?;
        } else if name == "SKILL.md" && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// The skill that a file describes.
///
/// # Errors
///
/// The key that is wrong, and what would be right.
fn skill_of(text: &str) -> Result<AgentSkill, (String, String)> {
    let at = |key: &str, fix: &str| (key.to_owned(), fix.to_owned());
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
    let tags = tags_at(front).or_else(|| tags_at(&front["metadata"]));
    Ok(AgentSkill {
        name: words.iter().map(|word| capitalized(word)).collect::<Vec<_>>().join(" "),
        description,
        tags: tags.unwrap_or_else(|| words.iter().map(|word| (*word).to_owned()).collect()),
        examples: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        id: name,
    })
}

/// What stands between the first line, `---`, and the next such line.
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

/// A text that is not blank.
fn text_at(front: &Yaml, key: &str) -> Option<String> {
    let text = front[key].as_str().map(str::trim).filter(|text| !text.is_empty());
    text.map(str::to_owned)
}

/// Tags, which are no part of the format: a list, or a text with commas.
fn tags_at(front: &Yaml) -> Option<Vec<String>> {
    let tags: Vec<String> = match &front["tags"] {
        Yaml::Array(tags) => tags.iter().filter_map(Yaml::as_str).map(str::to_owned).collect(),
        Yaml::String(tags) => tags.split(',').map(|tag| tag.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    let tags: Vec<String> = tags.into_iter().filter(|tag| !tag.is_empty()).collect();
    (!tags.is_empty()).then_some(tags)
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

/// The longest description of a skill, in characters.
const MAX_DESCRIPTION: usize = 1_024;

/// How many skills a folder may have.
const MAX_FILES: usize = 200;

/// How deep folders are looked into.
const MAX_DEPTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_skill_by_its_front_matter() {
        let text = "---\nname: pdf-forms\ndescription: >\n  Fills in\n  forms: \"quickly\".\nlicense: MIT\n\
                    metadata:\n  author: ada\n---\n# How\n---\n";
        let skill = skill_of(text).unwrap();
        assert_eq!((skill.id.as_str(), skill.name.as_str()), ("pdf-forms", "Pdf Forms"));
        assert_eq!(skill.description, "Fills in forms: \"quickly\".");
        assert_eq!(skill.tags, ["pdf", "forms"]);
        for tags in ["tags: [a, b c]", "metadata:\n  tags: a, b c", "tags:\n  - a\n  - b c"] {
            let text = format!("\u{feff}---\r\nname: x\r\ndescription: Y.\r\n{tags}\r\n---\r\n");
            assert_eq!(skill_of(&text).unwrap().tags, ["a", "b c"], "{tags}");
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
            let (found, fix) = skill_of(text).unwrap_err();
            assert_eq!(found, key, "{text}");
            assert!(fix.starts_with(reason), "{fix}");
        }
    }

    #[test]
    fn files_are_found_in_a_folder_and_below_it() {
        let folder = std::env::temp_dir().join(format!("a2a-edge-skills-{}", std::process::id()));
        let path = format!("{}/", folder.display());
        assert!(read_folder(&path).unwrap_err()[0].fix.starts_with("cannot be read"));
        for below in ["b", "a/deep", ".hidden"] {
            fs::create_dir_all(folder.join(below)).unwrap();
        }
        assert!(read_folder(&path).unwrap_err()[0].fix.starts_with("has no file SKILL.md"));
        for (below, name) in [("b", "b"), ("a/deep", "deep"), (".hidden", "no"), ("", "top")] {
            let text = format!("---\nname: {name}\ndescription: A.\n---\n");
            fs::write(folder.join(below).join("SKILL.md"), text).unwrap();
        }
        let found = read_folder(&path).unwrap();
        fs::write(folder.join("b/SKILL.md"), "no front matter").unwrap();
        let problems = read_folder(&path).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        let ids: Vec<&str> = found.iter().map(|found| found.skill.id.as_str()).collect();
        assert_eq!(ids, ["top", "deep", "b"]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].file.ends_with("b/SKILL.md"));
    }
}
