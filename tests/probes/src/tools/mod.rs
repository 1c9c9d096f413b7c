//! The tools that agents of this Worker may name: the tools of the repository, and the probes, one file each.

mod ask;
mod call;
mod fetch;
mod parts;
#[path = "../../../../src/tools/mod.rs"]
mod repository;
mod steps;

use a2a_edge::tool::Tool;

/// All tools.
pub(crate) fn all() -> Vec<Box<dyn Tool>> {
    let probes: [Box<dyn Tool>; 5] = [
        Box::new(call::probe_call()),
        Box::new(parts::probe_parts()),
        Box::new(steps::probe_steps()),
        Box::new(ask::probe_ask()),
        Box::new(fetch::probe_fetch()),
    ];
    repository::all().into_iter().chain(probes).collect()
}
