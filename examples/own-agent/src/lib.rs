//! A Worker of one's own: two agents, one with an executor in Rust, one with a tool.

mod links;
mod tools;

use a2a_edge::prelude::*;

fn host() -> Host {
    Host::embedded(a2a_edge::embedded!())
        .tools(tools::all())
        .executor("links", |settings, _| Ok(links::LinkChecker { settings }))
}

a2a_edge::worker!(host());

#[cfg(test)]
mod tests {
    #[test]
    fn every_agent_can_be_served() {
        super::host().check().unwrap();
    }
}
