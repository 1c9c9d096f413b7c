//! The tools that this Worker's agents may name: those of the repository, and the probes, one file each.

mod ask;
mod call;
mod fetch;
mod parts;
#[path = "../../../../src/tools/mod.rs"]
mod repository;
mod steps;

use a2a_edge::tool::Tool;

/// Every tool.
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
