//! a2a-edge: hosts A2A agents on Cloudflare Workers, each task in a Durable Object of its own.
//!
//! A request enters through [`edge`], is decoded by [`a2a::binding`] into a call of an [`operation`], which drives
//! the [`task`] machine inside the task's object and lets the agent's [`executor`] answer.
//!
//! | module | what it is |
//! |---|---|
//! | [`task`] | the life of a task as a state machine |
//! | [`operation`] | one file per operation (§3.1), and the task in memory |
//! | [`port`] | what a task asks of the outside |
//! | [`auth`] | who calls (§7) |
//! | [`push`] | where notifications may go, and how they are signed (§3.5.3, §13.2) |
//! | [`executor`] | the [`AgentExecutor`](executor::AgentExecutor) trait and the built-in executors |
//! | [`config`] | the settings of a deployment |
//! | [`edge`] | Cloudflare |

pub mod auth;
pub mod config;
pub mod edge;
pub mod executor;
pub mod format;
pub mod operation;
pub mod port;
pub mod push;
pub mod task;
mod tools;

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
