//! a2a-edge: hosts A2A agents on Cloudflare Workers, each task in a Durable Object of its own.
//!
//! A request enters through [`edge`], is decoded by [`binding`] into an [`operation`], which drives
//! the [`task`] machine inside the task's object and lets the agent's [`executor`] answer.
//!
//! | module | what it is |
//! |---|---|
//! | [`model`] | the data model of the protocol (spec §4) |
//! | [`error`] | every failure that the protocol names, and its wire form (§5.4) |
//! | [`task`] | the life of a task as a state machine |
//! | [`operation`] | one file per operation (§3.1), and the task in memory |
//! | [`port`] | what a task asks of the outside |
//! | [`push`] | webhooks: how notifications fare (§4.3) |
//! | [`binding`] | bytes to operations and back (§8, §9, §11) |
//! | [`auth`] | who calls (§7) |
//! | [`agent`] | agent files, their checks and the cards that follow from them |
//! | [`push`] | where notifications may go, and how they are signed (§3.5.3, §13.2) |
//! | [`tool`] | functions that agents offer as skills |
//! | [`executor`] | the [`AgentExecutor`](executor::AgentExecutor) trait and the built-in executors |
//! | [`config`] | the settings of a deployment |
//! | [`edge`] | Cloudflare |

pub mod agent;
pub mod auth;
pub mod binding;
pub mod config;
pub mod edge;
pub mod error;
pub mod executor;
pub mod model;
pub mod operation;
pub mod port;
pub mod push;
pub mod task;
pub mod tool;

use worker::{
    Context, Env, MessageBatch, Request, Response, Result, ScheduleContext, ScheduledEvent, event,
};

/// Runs once per instance, before anything else.
#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// Answers an HTTP request.
#[event(fetch)]
async fn fetch(request: Request, env: Env, context: Context) -> Result<Response> {
    edge::handle(request, env, context).await
}

/// Runs whenever the cron trigger fires.
#[event(scheduled)]
async fn scheduled(_event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    edge::prune(&env).await;
}

/// Takes what is in the queues.
#[event(queue)]
async fn queue(batch: MessageBatch<String>, env: Env, context: Context) -> Result<()> {
    edge::consume(batch, env, context).await;
    Ok(())
}
