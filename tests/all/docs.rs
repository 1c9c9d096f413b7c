//! The agent files in README and in `docs/`, whole files and pieces, are parsed and checked as by the build. A block
//! whose first line is `# agents/<name>.toml` is a whole file, any other block is a piece of one.
//!
//! If the environment contains `A2A_DOCS_AGENTS`, the whole files are embedded in the file at this path, together with
//! the agents of this repository: `tests/docs/blocks.spec.ts` serves them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use a2a::model::UnixMillis;
use a2a_agents::files::Disk;
use a2a_agents::project::{Terms, check as check_project};
use toml::{Table, Value};

/// A block of TOML: its place, and its text.
struct Block {
    place: String,
    text: String,
}

impl Block {
    /// The path in the first line; empty if there is none.
    fn title(&self) -> &str {
        self.text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default()
    }
}

/// Files by their paths, for example `agents/demo.toml`.
type Files = BTreeMap<String, String>;

#[test]
fn every_agent_file_of_the_pages_can_be_built() {
    let blocks = blocks();
    let mut shared = titled(&blocks, "tools/");
    // One file, of which each page contains a piece.
    let remotes = blocks.iter().filter(|block| block.title() == "remotes.toml");
    let remotes: Vec<&str> = remotes.map(|block| block.text.as_str()).collect();
    shared.insert("remotes.toml".to_owned(), remotes.join("\n"));
    let mut problems = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let checked = match block.title() {
            title if title.starts_with("agents/") => {
                let beside = beside(block, &blocks, &shared);
                check(number, title, &block.text, &beside)
            }
            // These files are built with every agent, or belong to wrangler or cargo.
            title if title.starts_with("tools/") || title == "remotes.toml" => Ok(()),
            "wrangler.toml" | "Cargo.toml" => parse(&block.text).map(|_| ()),
            _ => complete(&block.text)
                .and_then(|text| check(number, "agents/piece.toml", &text, &shared)),
        };
        problems.extend(checked.err().map(|problem| format!("{}: {problem}", block.place)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let whole = titled(&blocks, "agents/");
    assert!(!whole.is_empty(), "no page has an agent file");
    if let Some(target) = std::env::var_os("A2A_DOCS_AGENTS") {
        embed("served", &whole, &shared, Path::new(&target)).unwrap();
    }
}

#[test]
fn pages_that_show_one_agent_file_show_the_same() {
    let mut shown = BTreeMap::new();
    let blocks = blocks();
    for block in blocks.iter().filter(|block| block.title().starts_with("agents/")) {
        let Block { place, text } = *shown.entry(block.title()).or_insert(block);
        assert_eq!(block.text, *text, "{} and {place}", block.place);
    }
}

/// The files that the agent of a block may refer to: the shared ones, and the other agents of its page.
fn beside(block: &Block, blocks: &[Block], shared: &Files) -> Files {
    let page = |block: &Block| block.place.rsplit_once(':').map(|(page, _)| page.to_owned());
    let others = blocks.iter().filter(|other| {
        let is_agent = other.title().starts_with("agents/") && other.title() != block.title();
        is_agent && page(other) == page(block)
    });
    let others = others.map(|other| (other.title().to_owned(), other.text.clone()));
    shared.clone().into_iter().chain(others).collect()
}

/// The texts of the blocks whose titles begin with `begins`, by title: of several with the same title, the last.
fn titled(blocks: &[Block], begins: &str) -> Files {
    let titled = blocks.iter().filter(|block| block.title().starts_with(begins));
    titled.map(|block| (block.title().to_owned(), block.text.clone())).collect()
}

#[test]
fn a_mistake_in_an_agent_file_is_noticed() {
    for (text, problem) in [
        ("[[skills]]\nid = 1", "invalid type"),
        ("[executor.tools]\nnames = [\"echo\", \"echo\"]", "stands twice"),
        ("[executor.run]\ntimeout = 5", "`executor.run.timeout` is no key of this table"),
        ("[executor", "unclosed table"),
    ] {
        let built = |text: String| check(1_000, "agents/piece.toml", &text, &Files::new());
        let told = complete(text).and_then(built).unwrap_err();
        assert!(told.contains(problem), "{text}: {told}");
    }
}

/// The blocks of all pages, in order.
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
                // `tests/docs/blocks.spec.ts` counts the reasons of the other blocks.
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

/// A piece of an agent file, completed to a whole file.
fn complete(piece: &str) -> Result<String, String> {
    let mut file = parse(piece)?;
    for key in ["name", "description", "version"] {
        file.entry(key).or_insert_with(|| Value::from("x"));
    }
    let has_tools = file.contains_key("tools");
    let executor = file.entry("executor").or_insert_with(|| Table::new().into());
    let Value::Table(executor) = executor else { return Err("executor is no table".to_owned()) };
    let known = executor.keys().find(|key| *key != "run" && *key != "kind").cloned();
    let known = known.or(has_tools.then(|| "tools".to_owned()));
    let kind = executor.entry("kind").or_insert(known.as_deref().unwrap_or("script").into());
    let kind = kind.as_str().unwrap_or_default().to_owned();
    if known.is_none() && kind == "script" {
        executor.insert("script".to_owned(), parse(RULES)?.into());
    }
    if kind == "tools" && !has_tools {
        let table = executor.entry("tools").or_insert_with(|| Table::new().into());
        let Value::Table(table) = table else { return Err("tools is no table".to_owned()) };
        table.entry("names").or_insert(vec![Value::from("echo")].into());
    }
    if kind != "tools" {
        file.entry("skills").or_insert(vec![Value::from(parse(SKILL)?)].into());
    }
    Ok(file.to_string())
}

/// Builds a single agent file in its own folder.
fn check(number: usize, title: &str, text: &str, shared: &Files) -> Result<(), String> {
    let target = scratch(&format!("block-{number}.json"));
    let file = Files::from([(title.to_owned(), text.to_owned())]);
    embed(&format!("block-{number}"), &file, shared, &target)
}

/// Embeds agent files together with those of this repository, which contain the default agent.
fn embed(name: &str, agents: &Files, shared: &Files, target: &Path) -> Result<(), String> {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    for part in ["agents", "tools"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("agents")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join("agents").join(path.file_name().unwrap())).unwrap();
    }
    for (path, text) in agents.iter().chain(shared) {
        // There is already a default agent.
        fs::write(folder.join(path), text.replace("default = true\n", "")).unwrap();
    }
    // The Worker of this repository registers tools.
    let terms = Terms { may_register: true, now: UnixMillis(1_767_603_601_000) };
    let checked = check_project(&Disk::new(&folder), terms).map_err(|problems| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    })?;
    fs::write(target, checked.to_json().unwrap()).map_err(|error| error.to_string())
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs").join(name)
}
