//! A Worker of your own: an agent with an executor in Rust, and an agent with tools.

mod publisher;
mod tools;

use a2a_edge::prelude::*;

fn host() -> Host {
    Host::new()
        .tools(tools::all())
        .executor("publisher", |publisher: publisher::Publisher, _| Ok(publisher))
}

a2a_edge::worker!(host());
