//! Dependencies have one direction. This test checks it by the `use crate::` lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the server, each with the modules that it may use. The use of other crates is limited by their public
/// interfaces.
const MAY_USE: [(&str, &[&str]); 29] = [
    // The code blocks of the documentation.
    ("documentation", &[]),
    ("config", &[]),
    ("auth", &[]),
    ("format", &[]),
    ("remembered", &[]),
    ("remotes", &[]),
    ("room", &[]),
    ("mcp", &["remotes"]),
    ("overview", &[]),
    ("panic", &["port"]),
    ("trail", &[]),
    ("usage", &[]),
    ("task", &["auth", "trail", "usage"]),
    ("tools", &[]),
    ("telemetry", &["port", "usage"]),
    ("port", &["auth", "format", "mcp", "push", "remotes", "trail", "usage"]),
    // The in-memory implementations of the ports.
    ("twins", &["auth", "port", "push", "trail", "usage"]),
    ("push", &["config", "format"]),
    ("signing", &[]),
    (
        "executor",
        &["task", "auth", "mcp", "panic", "port", "push", "remotes", "trail", "twins", "usage"],
    ),
    // `embedded` is the macro.
    ("host", &["executor", "port", "twins", "embedded"]),
    ("demo", &["host", "tools", "port", "twins", "embedded", "prelude", "testing"]),
    ("prelude", &["executor", "host", "port", "task", "usage"]),
    (
        "testing",
        &[
            "auth",
            "config",
            "executor",
            "mcp",
            "operation",
            "port",
            "remotes",
            "session",
            "trail",
            "twins",
        ],
    ),
    (
        "session",
        &[
            "config", "auth", "mcp", "task", "panic", "port", "executor", "push", "trail", "twins",
            "usage",
        ],
    ),
    (
        "operation",
        &["auth", "push", "session", "format", "panic", "port", "task", "trail", "usage"],
    ),
    // The forms of data between the programs of `edge`.
    ("forms", &["auth", "format", "operation", "port", "push", "session", "trail"]),
    // The pure part of the front.
    (
        "front",
        &[
            "auth",
            "config",
            "executor",
            "format",
            "forms",
            "operation",
            "overview",
            "port",
            "session",
            "signing",
            "task",
            "trail",
            "twins",
            "usage",
        ],
    ),
    (
        "edge",
        &[
            "forms",
            "front",
            "config",
            "auth",
            "task",
            "port",
            "executor",
            "push",
            "session",
            "signing",
            "telemetry",
            "operation",
            "host",
            "format",
            "mcp",
            "overview",
            "panic",
            "remembered",
            "room",
            "trail",
            "twins",
            "usage",
        ],
    ),
];

#[test]
fn modules_use_only_what_is_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for file in files_under(&source) {
        let relative = file.strip_prefix(&source).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let (_, allowed) = MAY_USE
            .iter()
            .find(|(known, _)| *known == module)
            .unwrap_or_else(|| panic!("say in this test what `{module}` may use"));
        // A path in a macro belongs to the crate that expands the macro.
        let text = fs::read_to_string(&file).unwrap().replace("$crate::", "");
        for used in text.split("crate::").skip(1) {
            let used: String =
                used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            seen += 1;
            assert!(
                used == module || allowed.contains(&used.as_str()),
                "{} uses crate::{used}, which is not below it",
                relative.display()
            );
        }
        if module == "edge" {
            continue;
        }
        for platform in ["worker::", "wasm_bindgen", "js_sys", "web_sys"] {
            assert!(!text.contains(platform), "{} names {platform}", relative.display());
        }
    }
    assert!(seen > 50, "the test no longer sees the code");
}

/// The folders of `edge`, one for each program and two with shared code, and the other folders that each may use. The files
/// directly in `edge` may be used by all.
const EDGE_MAY_USE: [(&str, &[&str]); 5] = [
    ("front", &["service", "development"]),
    ("object", &["service"]),
    ("jobs", &["service"]),
    ("service", &["development"]),
    ("development", &[]),
];

#[test]
fn the_programs_of_the_edge_do_not_use_each_other() {
    let edge = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/edge");
    let is_folder = |name: &str| EDGE_MAY_USE.iter().any(|(folder, _)| *folder == name);
    let mut seen = 0;
    for (folder, allowed) in EDGE_MAY_USE {
        for file in files_under(&edge.join(folder)) {
            let text = fs::read_to_string(&file).unwrap();
            for used in text.split("crate::edge::").skip(1) {
                let used: String =
                    used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                seen += 1;
                assert!(
                    used == folder || !is_folder(&used) || allowed.contains(&used.as_str()),
                    "{} uses edge/{used}: what both need belongs beside the folders",
                    file.display()
                );
                assert!(
                    !used.is_empty(),
                    "{} uses several modules of edge in one line",
                    file.display()
                );
            }
        }
    }
    assert!(seen > 30, "the test no longer sees the code");
}

#[test]
fn operations_on_an_existing_task_take_an_owned_one() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // A message without a task id begins a task, so a send uses the session itself, and checks the owner of a task that the
    // message names.
    let sends = ["send_message.rs", "send_streaming_message.rs"];
    let mut owned = 0;
    for file in files_under(&source.join("operation")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        owned += usize::from(text.contains("task: Owned<'_>"));
        let has_session = text.contains(": &TaskSession") || text.contains("Rc<TaskSession>");
        assert_eq!(has_session, sends.contains(&name.as_str()), "{name} goes past the owner check");
    }
    assert!(owned > 8, "the test no longer sees the code");
    // Everything that a session reads or changes without `Owned` is private to its module.
    let doors_file = fs::read_to_string(source.join("session/doors.rs")).unwrap();
    let parts = fs::read_to_string(source.join("session/mod.rs")).unwrap();
    let name_of = |line: &str| {
        let opened = ["pub fn ", "pub(crate) fn ", "pub async fn ", "pub(crate) async fn "];
        let rest = opened.iter().find_map(|start| line.trim_start().strip_prefix(start))?;
        rest.split('(').next().map(str::to_owned)
    };
    assert_eq!(parts.lines().find_map(name_of), None, "doors of a session belong in doors.rs");
    let open: Vec<String> = doors_file.lines().filter_map(name_of).collect();
    let doors = ["id", "chosen_task", "owned_by", "operated_by", "repeated", "begin"];
    // The token of a callback is the permission to post to the callback.
    let whole_session = [
        "is_broken",
        "is_unfit_for",
        "is_dispensable",
        "wake",
        "expire",
        // A deletion is told to those who could have seen the task.
        "was_deleted_for",
        "until_unlisted",
        "next_notification",
        "call_back",
        "takes_call",
    ];
    assert_eq!(open, [&doors[..], &whole_session].concat());
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The layers of the protocol crate, each with the folders that it may not use.
const PROTOCOL_MAY_NOT_USE: [(&str, &[&str]); 3] = [
    ("wire", &["dialect", "binding", "client"]),
    ("dialect", &["binding", "client"]),
    ("binding", &["client"]),
];

#[test]
fn the_protocol_crate_is_layered() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/a2a/src");
    let modules = Modules::read(&source);
    let mut seen = 0;
    for (module, uses) in &modules.uses {
        let folder = module.first().map(String::as_str).unwrap_or_default();
        let forbidden = PROTOCOL_MAY_NOT_USE.iter().find(|(name, _)| *name == folder);
        for used in uses {
            seen += 1;
            let used = used.first().map(String::as_str).unwrap_or_default();
            let is_forbidden = forbidden.is_some_and(|(_, names)| names.contains(&used));
            assert!(!is_forbidden, "{} uses {used}, which is above it", module.join("::"));
        }
    }
    assert!(seen > 100, "the test no longer sees the code");
}

/// The modules in a folder, each with everything below it, use each other only in one direction. The `mod.rs` of a folder is
/// excluded: it may use its children, and they may use it.
#[test]
fn modules_of_a_folder_form_no_circles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for source in [
        "crates/a2a/src",
        "crates/agents/src",
        "crates/chat/src",
        "crates/macros/src",
        "crates/mcp/src",
        "src",
    ] {
        let modules = Modules::read(&root.join(source));
        for (folder, circle) in modules.circles() {
            let folder = [&[source.to_owned()], folder.as_slice()].concat().join("/");
            found.insert((folder, circle));
        }
    }
    assert!(found.is_empty(), "circles: {found:#?}");
}

type Module = Vec<String>;

/// The modules of a crate, with the modules that each one uses.
struct Modules {
    uses: BTreeMap<Module, BTreeSet<Module>>,
}

impl Modules {
    fn read(source: &Path) -> Self {
        let mut texts = BTreeMap::new();
        for file in files_under(source) {
            let relative = file.strip_prefix(source).unwrap().with_extension("");
            let mut module: Module =
                relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
                module.pop();
            }
            if module.last().is_some_and(|name| name == "tests") {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let code: Vec<&str> =
                text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
            texts.insert(module, code.join("\n").replace("$crate::", ""));
        }
        // The re-exports of children by their parent module.
        let shown: BTreeMap<(Module, String), Module> = texts
            .iter()
            .flat_map(|(module, text)| {
                uses(text, true).into_iter().filter_map(move |(path, name)| {
                    Some(((module.clone(), name), absolute(module, &path)?))
                })
            })
            .collect();
        let place = |path: &Module| {
            let mut path = path.clone();
            for _ in 0..8 {
                let depth =
                    (0..=path.len()).rev().find(|n| texts.contains_key(&path[..*n])).unwrap();
                let item = path.get(depth).cloned();
                let target = item.and_then(|item| shown.get(&(path[..depth].to_vec(), item)));
                match target {
                    Some(target) if *target != path => path = target.clone(),
                    _ => return path[..depth].to_vec(),
                }
            }
            path
        };
        let of = |(module, text): (&Module, &String)| {
            let used =
                uses(text, false).into_iter().filter_map(|(path, _)| absolute(module, &path));
            (module.clone(), used.map(|path| place(&path)).collect())
        };
        Self { uses: texts.iter().map(of).collect() }
    }

    /// The cycles in each folder.
    fn circles(&self) -> Vec<(Module, Vec<String>)> {
        let folders: BTreeSet<Module> =
            self.uses.keys().filter_map(|module| Some(module.split_last()?.1.to_vec())).collect();
        folders.into_iter().flat_map(|folder| self.circles_in(folder)).collect()
    }

    fn circles_in(&self, folder: Module) -> Vec<(Module, Vec<String>)> {
        let child = |module: &Module| {
            module.starts_with(&folder).then(|| module.get(folder.len()).cloned()).flatten()
        };
        let mut reached: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, used) in &self.uses {
            let Some(from) = child(module) else { continue };
            let others = used.iter().filter_map(child).filter(|to| *to != from);
            reached.entry(from.clone()).or_default().extend(others);
        }
        // The modules that are reachable in any number of steps.
        for middle in reached.keys().cloned().collect::<Vec<_>>() {
            let through = reached[&middle].clone();
            for targets in reached.values_mut().filter(|targets| targets.contains(&middle)) {
                targets.extend(through.iter().cloned());
            }
        }
        let mut circles = BTreeSet::new();
        for (name, targets) in &reached {
            let back = |other: &&String| reached.get(*other).is_some_and(|to| to.contains(name));
            let circle: Vec<String> = targets.iter().filter(back).cloned().collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().map(|circle| (folder.clone(), circle)).collect()
    }
}

/// The paths that a text imports or uses, each with its name in the text: only re-exports (`pub use`), or all others.
fn uses(text: &str, is_shown: bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = String::new();
    for statement in text.split_inclusive(';') {
        let line = statement.find("use ").filter(|at| {
            let before = statement[..*at].rsplit('\n').next().unwrap_or_default().trim();
            before.is_empty() || before.starts_with("pub")
        });
        let Some(at) = line else {
            rest.push_str(statement);
            continue;
        };
        let before = statement[..at].rsplit('\n').next().unwrap_or_default().trim();
        if before.starts_with("pub") == is_shown {
            expand("", statement[at + 4..].trim_end_matches(';'), &mut found);
        }
    }
    if !is_shown {
        for start in ["crate::", "super::"] {
            for (at, _) in rest.match_indices(start) {
                let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                if !rest[..at].ends_with(|c: char| is_path(c)) && !rest[..at].ends_with("(in ") {
                    let path: String = rest[at..].chars().take_while(|c| is_path(*c)).collect();
                    found.push((path.trim_end_matches(':').to_owned(), String::new()));
                }
            }
        }
    }
    found
}

/// The paths in a tree of imports.
fn expand(prefix: &str, tree: &str, found: &mut Vec<(String, String)>) {
    let tree = tree.trim();
    let Some((head, inner)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path = format!("{prefix}{}", path.trim()).trim_end_matches("::self").to_owned();
        let last = path.rsplit("::").next().unwrap_or_default().to_owned();
        let name = if name.is_empty() { last } else { name.trim().to_owned() };
        found.push((path, name));
        return;
    };
    let prefix = format!("{prefix}{}", head.trim());
    let inner = inner.trim_end().trim_end_matches('}');
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 || at == inner.len() => {
                if !inner[begin..at].trim().is_empty() {
                    expand(&prefix, &inner[begin..at], found);
                }
                begin = (at + 1).min(inner.len());
            }
            _ => {}
        }
    }
}

/// The path from the root of the crate; a path that begins with a name is read as the path of a child. The path of another
/// crate results in the module itself.
fn absolute(module: &Module, path: &str) -> Option<Module> {
    let mut segments: Vec<&str> = path.split("::").collect();
    let mut base = module.clone();
    match *segments.first()? {
        "crate" => base.clear(),
        "std" | "core" | "alloc" => return None,
        _ => {}
    }
    while let Some(&first) = segments.first() {
        match first {
            "crate" | "self" => {}
            "super" => {
                base.pop();
            }
            _ => break,
        }
        segments.remove(0);
    }
    base.extend(segments.into_iter().filter(|name| *name != "*").map(str::to_owned));
    Some(base)
}
