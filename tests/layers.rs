//! Dependencies point one way. This reads the `use crate::` lines and keeps it true.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the server, and what of the server it may use. What it may not use of the crates below it
/// is a matter of their own doors.
const MAY_USE: [(&str, &[&str]); 12] = [
    ("config", &[]),
    ("auth", &[]),
    ("task", &["auth"]),
    ("tools", &[]),
    ("port", &[]),
    ("push", &["config"]),
    ("executor", &["task", "auth", "port"]),
    // `embedded` is the macro.
    ("host", &["executor", "port", "embedded"]),
    ("demo", &["host", "tools", "port", "embedded"]),
    ("session", &["config", "auth", "task", "port", "executor", "push"]),
    ("operation", &["auth", "push", "session"]),
    (
        "edge",
        &["config", "auth", "task", "port", "executor", "push", "session", "operation", "host"],
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

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
