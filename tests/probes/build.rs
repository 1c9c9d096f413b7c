//! Embeds the agents of `agents/`, with the tools that they name.

extern crate a2a_agents as a2a_edge;

#[path = "src/tools/mod.rs"]
mod tools;

fn main() -> std::process::ExitCode {
    a2a_agents::embed::run("agents", tools::all())
}
