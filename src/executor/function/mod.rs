//! Tools and executors that are functions of the project's entry module, in TypeScript or JavaScript.
//!
//! # A run of a function
//!
//! ```text
//! Registry ── kind ──> FunctionExecutor ── execute(kind, number, turn, settings) ──> js/functions.js ──> js/api/
//!                          │  Runs: number -> OpenRun (the turn, its events)             │
//!                          └──────── say, beginStep, wait, secret, remoteSend … <────────┘  src/edge/functions.rs
//! ```
//!
//! - A function gets JSON and a number. By the number it reaches its run in [`Runs`] as long as the run is open, so JavaScript holds no object of
//!   Rust, and a call that comes too late finds no run ([`Refused::Over`]).
//! - Functions are called from the poll of their run. So what they send belongs to the object of the task, and leaves it only after the rows
//!   that were stored before (output gate). Each call that changes the task wakes the run, whose next poll stores the events. A function that
//!   ends without waiting ends the run in the same poll.
//! - Requests to other agents and MCP servers are jobs of the run: the run polls them, so they end with the run.
//! - A resumed run executes the function from its start. Steps, waits, callbacks and messages answer from the log. Events are not compared in their
//!   order, since a model writes another text in each attempt: an event that an earlier attempt has emitted with the same content is skipped, each
//!   other event is new ([`RunTask::skip_repeated`](super::RunTask::skip_repeated)). A text that is written piece by piece is a step: if the step has ended,
//!   nothing is emitted; if it was interrupted, its artifact begins anew.
//! - What a function throws reaches the caller only if it is a `Failure`; any other error is logged with its stack (`thrown.rs`).

mod described;
mod document;
mod durable;
mod executor;
mod facts;
mod jobs;
mod others;
mod run;
mod runs;
mod said;
mod thrown;
mod tool;

use std::rc::Rc;

use super::Registry;
use crate::port::Functions;
use a2a_agents::Misfit;
use described::Described;
use executor::FunctionKind;
use tool::FunctionTool;

pub use run::{OpenRun, Refused};
pub use runs::Runs;

/// Registers the tools and the kinds of executors that the entry module has passed to the engine, and returns the table of their
/// runs. In development callers see the text of every error.
///
/// # Errors
///
/// If the functions cannot be described, or have the name of a tool or a kind that is registered already.
pub fn register(
    registry: &mut Registry,
    functions: Rc<dyn Functions>,
    is_development: bool,
) -> Result<Rc<Runs>, Misfit> {
    let described = functions.describe().map_err(Misfit)?;
    let Described { tools, executors } = Described::read(&described)?;
    let runs = Rc::new(Runs::new(functions, is_development));
    for tool in tools {
        let tool = FunctionTool::new(tool, runs.clone());
        if registry.tools().iter().any(|known| known.name() == tool.described().name) {
            return Err(twice("tool", &tool.described().name));
        }
        registry.add_tool(Rc::new(tool));
    }
    for executor in executors {
        let kind = executor.kind.clone();
        if registry.kinds().any(|known| known == kind) {
            return Err(twice("kind", &kind));
        }
        let made = FunctionKind::new(executor, runs.clone());
        registry.add_executor(kind, Box::new(move |executor, _| made.executor(executor)));
    }
    Ok(runs)
}

fn twice(what: &str, name: &str) -> Misfit {
    Misfit(format!(
        "the {what} {name} is registered by the Rust crate and by the entry module; rename one of the two"
    ))
}
