//! The agent files of README and of `docs/`, whole ones and pieces, are read and checked as the build does it. A block
//! whose first line is `# agents/<name>.toml` is a whole file, any other is a piece of one.
//!
//! With `A2A_DOCS_AGENTS` in the environment, the whole ones are embedded in the file that it names, with the agents of
//! this repository: `tests/docs/blocks.spec.ts` serves them.

#![expect(clippy::unwrap_used, reason = "a test ends with the first surprise")]

#[path = "../src/tools/mod.rs"]
mod tools;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use a2a_agents::embed::embed_into;
use toml::{Table, Value};

/// A block of TOML: where it is, and what it holds.
struct Block {
    place: String,
    text: String,
}

#[test]
fn every_agent_file_of_the_pages_can_be_built() {
    let mut problems = Vec::new();
    let mut whole = BTreeMap::new();
    for (number, block) in blocks().into_iter().enumerate() {
        let title = block.text.lines().next().unwrap_or_default().trim_start_matches("# ");
        let slug = title.strip_prefix("agents/").and_then(|file| file.strip_suffix(".toml"));
        let checked = match (slug, title) {
            (Some(slug), _) => {
                whole.insert(slug.to_owned(), block.text.clone());
                check(number, slug, &block.text)
            }
            // wrangler's own, or cargo's.
            (None, "wrangler.toml" | "Cargo.toml") => parse(&block.text).map(|_| ()),
            (None, _) => complete(&block.text).and_then(|text| check(number, "piece", &text)),
        };
        problems.extend(checked.err().map(|problem| format!("{}: {problem}", block.place)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(!whole.is_empty(), "no page has an agent file");
    if let Some(target) = std::env::var_os("A2A_DOCS_AGENTS") {
        embed("served", &whole, Path::new(&target)).unwrap();
    }
}

#[test]
fn a_mistake_in_an_agent_file_is_noticed() {
    for (text, problem) in [
        ("[[skills]]\nid = 1", "invalid type"),
        ("[executor.tools]\nnames = [\"ecko\"]", "there is no tool"),
        ("[executor.run]\ntimeout = 5", "unknown field"),
        ("[executor", "unclosed table"),
    ] {
        let told = complete(text).and_then(|text| check(1_000, "piece", &text)).unwrap_err();
        assert!(told.contains(problem), "{text}: {told}");
    }
}

/// The blocks of all pages, in their order.
fn blocks() -> Vec<Block> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    paths.insert(0, root.join("README.md"));
    paths.iter().flat_map(|path| blocks_of(path)).collect()
}

fn blocks_of(path: &Path) -> Vec<Block> {
    let text = fs::read_to_string(path).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut before = String::new();
    for (index, line) in text.lines().enumerate() {
        match &mut open {
            Some(block) if line.trim() == "```" => {
                // The reason why it is not checked is counted by `tests/docs/blocks.spec.ts`.
                if !before.starts_with("<!-- not run: ") {
                    blocks.push(Block { place: block.place.clone(), text: block.text.clone() });
                }
                open = None;
            }
            Some(block) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            None if line.trim() == "```toml" => {
                let place = format!("{}:{}", path.display(), index + 1);
                open = Some(Block { place, text: String::new() });
            }
            None if !line.trim().is_empty() => before = line.to_owned(),
            None => {}
        }
    }
    blocks
}

fn parse(text: &str) -> Result<Table, String> {
    text.parse::<Table>().map_err(|error| error.to_string())
}

const RULES: &str = "rules = [{ then = [{ do = 'complete' }] }]";
const SKILL: &str = "id = 'x'\nname = 'x'\ndescription = 'x'\ntags = ['x']";

/// A piece of an agent file with what it lacks to be a whole one.
fn complete(piece: &str) -> Result<String, String> {
    let mut file = parse(piece)?;
    for key in ["name", "description", "version"] {
        file.entry(key).or_insert_with(|| Value::from("x"));
    }
    let executor = file.entry("executor").or_insert_with(|| Table::new().into());
    let Value::Table(executor) = executor else { return Err("executor is no table".to_owned()) };
    let known = executor.keys().find(|key| *key != "run" && *key != "kind").cloned();
    if known.is_none() && !executor.contains_key("kind") {
        executor.insert("script".to_owned(), parse(RULES)?.into());
    }
    let kind = executor.entry("kind").or_insert(known.as_deref().unwrap_or("script").into());
    if kind.as_str() != Some("tools") {
        file.entry("skills").or_insert(vec![Value::from(parse(SKILL)?)].into());
    }
    Ok(file.to_string())
}

/// Builds an agent file alone, below a folder of its own.
fn check(number: usize, slug: &str, text: &str) -> Result<(), String> {
    let target = scratch(&format!("block-{number}.json"));
    embed(
        &format!("block-{number}"),
        &BTreeMap::from([(slug.to_owned(), text.to_owned())]),
        &target,
    )
}

/// Embeds agent files, and those of this repository, among which is the default agent.
fn embed(name: &str, files: &BTreeMap<String, String>, target: &Path) -> Result<(), String> {
    let folder = scratch(name).join("agents");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("agents")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    for (slug, text) in files {
        // One agent is the default one already.
        let text = text.replace("default = true\n", "");
        fs::write(folder.join(format!("{slug}.toml")), text).unwrap();
    }
    embed_into(&folder.to_string_lossy(), &tools::local(), target)
        .map_err(|problems| problems.join("; ").replace(&*folder.to_string_lossy(), "agents"))
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs").join(name)
}
