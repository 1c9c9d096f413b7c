//! Embeds the agents of `agents/`. The cards describe the tools, so the build script compiles them, too; there the
//! library has another name.

extern crate a2a_agents as a2a_edge;

#[path = "src/tools.rs"]
mod tools;

fn main() -> std::process::ExitCode {
    a2a_agents::embed::run("agents", tools::all())
}
