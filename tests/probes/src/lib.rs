//! The Worker of the tests: tools and executors in Rust, for tests only. Like the projects of `create/templates/rust` it is a separate
//! project, so the deployed module contains no code of it.

mod executors;
mod tools;

use a2a_edge::prelude::*;

use executors::{CredentialsProbe, PanicProbe, UsageProbe};

fn host() -> Host {
    Host::new()
        .tools(tools::all())
        .executor("probe_credentials", |probe: CredentialsProbe, _| Ok(probe))
        .executor("probe_panics", |probe: PanicProbe, _| probe.made())
        .executor("probe_usage", |probe: UsageProbe, _| Ok(probe))
}

a2a_edge::worker!(host());
