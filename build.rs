//! Embeds the agents of this repository, and on demand those of its tests. A Worker of one's own, which takes
//! this crate without its features, embeds its agents itself.

extern crate a2a_agents as a2a_edge;

#[path = "src/tools/mod.rs"]
mod tools;

use std::path::Path;
use std::process::ExitCode;

use a2a_agents::embed::{embed, embed_into, report};

fn main() -> ExitCode {
    println!("cargo::rerun-if-env-changed={TEST_AGENTS_FILE}");
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_DEMO").is_none() {
        return ExitCode::SUCCESS;
    }
    let tools = tools::all();
    let for_tests = std::env::var(TEST_AGENTS_FILE)
        .map_or(Ok(()), |file| embed_into("tests/agents", &tools, Path::new(&file)));
    report([embed("agents", &tools), for_tests])
}

/// The variable that names the file for what would be embedded of the tests' agents; unless it is set, they
/// are left alone.
const TEST_AGENTS_FILE: &str = "A2A_EDGE_TEST_AGENTS";
