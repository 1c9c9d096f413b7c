//! Every kind of executor has all places that `docs/changing.md` lists for a new kind.

use std::fs;
use std::path::Path;

use a2a_agents::ExecutorKind;

/// The files in the section about kinds; some contain `<kind>`.
fn places() -> Vec<String> {
    let page = fs::read_to_string(root().join("docs/changing.md")).unwrap();
    let (_, section) = page.split_once("\n## A kind of executor\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let code = section.split('`').skip(1).step_by(2);
    code.filter(|code| code.contains('/') && code.ends_with(".rs")).map(str::to_owned).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a file exists, or a module folder of the same name.
fn exists(file: &str) -> bool {
    let folder = file.trim_end_matches(".rs");
    root().join(file).is_file() || root().join(folder).join("mod.rs").is_file()
}

#[test]
fn every_kind_has_the_files_that_the_page_names() {
    let places = places();
    let of_kinds = places.iter().filter(|place| place.contains("<kind>")).count();
    assert_eq!((places.len(), of_kinds), (4, 2), "{places:?}");
    for kind in ExecutorKind::names() {
        for place in &places {
            let file = place.replace("<kind>", kind);
            assert!(exists(&file), "docs/changing.md names {file} for the kind {kind}");
        }
    }
}

#[test]
fn every_kind_has_a_row_in_the_page_about_agent_files() {
    let page = fs::read_to_string(root().join("docs/agent-files.md")).unwrap();
    for kind in ExecutorKind::names() {
        let row = format!("| `[executor.{kind}]` | for `kind = \"{kind}\"`");
        assert!(page.contains(&row), "docs/agent-files.md has no row that begins: {row}");
    }
}
