//! Embeds the agents of this repository, and on request the agents of its tests. A Worker that uses this crate as a
//! library disables the feature `demo` and embeds its own agents.

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

/// The variable with the path of the file into which the agents of the tests are embedded. Without it they are not
/// embedded.
const TEST_AGENTS_FILE: &str = "A2A_EDGE_TEST_AGENTS";
