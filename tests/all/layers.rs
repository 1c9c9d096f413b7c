//! Dependencies point one way. This reads the `use crate::` lines and keeps it true.

use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the server, and what of the server it may use. What it may not use of the crates below it
/// is a matter of their own doors.
const MAY_USE: [(&str, &[&str]); 26] = [
    // The code blocks of the pages.
    ("documentation", &[]),
    ("config", &[]),
    ("dev_model", &[]),
    ("auth", &[]),
    ("format", &[]),
    ("remembered", &[]),
    ("remotes", &[]),
    ("room", &[]),
    ("mcp", &["remotes"]),
    ("overview", &[]),
    ("trail", &[]),
    ("usage", &[]),
    ("task", &["auth", "trail", "usage"]),
    ("tools", &[]),
    ("port", &["auth", "dev_model", "format", "mcp", "push", "remotes", "trail", "usage"]),
    // The ports in memory.
    ("twins", &["auth", "dev_model", "port", "usage"]),
    ("push", &["config", "format"]),
    ("signing", &[]),
    ("executor", &["task", "auth", "mcp", "port", "push", "remotes", "twins", "usage"]),
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
        &["config", "auth", "mcp", "task", "port", "executor", "push", "trail", "twins", "usage"],
    ),
    ("operation", &["auth", "push", "session", "format", "port", "task", "usage"]),
    (
        "edge",
        &[
            "config",
            "auth",
            "dev_model",
            "task",
            "port",
            "executor",
            "push",
            "session",
            "signing",
            "operation",
            "host",
            "format",
            "mcp",
            "overview",
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
        // What a macro names is named by the crate that expands it.
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

/// The folders of `edge`, one for each program and two for what several of them use, and which of the others
/// each may use. What lies beside them in `edge` is open to all.
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
    // A message without a task id begins a task, so a send has the session itself, and checks the owner of a
    // task that the message names.
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
    // What a session shows or changes without `Owned` is private to its module.
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
    // The token of a callback is the permission to post to it.
    let whole_session = [
        "is_broken",
        "is_unfit_for",
        "is_dispensable",
        "wake",
        "delete",
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
