//! Embeds the agents of `agents/`. Tools are part of their cards, so they are compiled for the build, too; there
//! the library goes by another name.

extern crate a2a_agents as a2a_edge;

#[path = "src/tools.rs"]
mod tools;

fn main() -> std::process::ExitCode {
    a2a_agents::embed::run("agents", tools::all())
}
