//! The Worker of the tests: the tools of this repository, and tools and executors for tests only. Like `examples/own-agent`
//! it is a separate project, so the deployed module contains no code of it.

mod executors;
mod tools;

use a2a_edge::prelude::*;

use executors::{CredentialsProbe, UsageProbe};

fn host() -> Host {
    Host::new()
        .tools(tools::all())
        .executor("probe_credentials", |probe: CredentialsProbe, _| Ok(probe))
        .executor("probe_usage", |probe: UsageProbe, _| Ok(probe))
}

a2a_edge::worker!(host());
