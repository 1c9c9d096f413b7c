//! a2a-edge: hosts A2A agents on Cloudflare Workers, each task in a Durable Object of its own.
//!
//! A request enters through [`edge`], is decoded by [`a2a::binding`] into a call of an [`operation`], which drives
//! the [`task`] machine inside the task's object and lets the agent's [`executor`] answer.
//!
//! | module | what it is |
//! |---|---|
//! | [`task`] | the life of a task as a state machine |
//! | [`session`] | one task in memory |
//! | [`operation`] | one file per operation (§3.1) |
//! | [`port`] | what a task asks of the outside |
//! | [`twins`] | the ports in memory, for tests |
//! | [`auth`] | who calls (§7) |
//! | [`push`] | where notifications may go, and how they are signed (§3.5.3, §13.2) |
//! | [`signing`] | the keys of this server, JWTs and signatures of cards (§8.4) |
//! | [`executor`] | the [`AgentExecutor`](executor::AgentExecutor) trait and the built-in executors |
//! | [`remotes`] | the agents that this Worker calls by name |
//! | [`mcp`](mod@mcp) | the MCP servers that this Worker calls by name, and what agents offer of their tools |
//! | [`remembered`] | how long what was fetched elsewhere is used, and who fetches it anew |
//! | [`room`] | how much memory request bodies may take, and which give way |
//! | [`config`] | the settings of a deployment |
//! | [`host`](Host) | what a Worker is made with: agents, tools, executors |
//! | [`prelude`], [`testing`] | what the author of an agent needs |
//! | `forms` | what passes between the front Worker, the objects and the queues |
//! | `front` | the pure part of the front: head, route, admission |
//! | [`edge`] | Cloudflare |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they made"))]

// The attributes of tools write paths that begin with `::a2a_edge`.
extern crate self as a2a_edge;

pub mod auth;
pub mod config;
#[cfg(feature = "demo")]
mod demo;
#[cfg(doctest)]
mod documentation;
pub mod edge;
pub mod executor;
pub mod format;
mod forms;
mod front;
mod host;
pub mod mcp;
pub mod operation;
pub mod overview;
pub mod port;
pub mod prelude;
pub mod push;
pub mod remembered;
pub mod remotes;
pub mod room;
pub mod session;
pub mod signing;
pub mod task;
pub mod testing;
#[cfg(feature = "demo")]
mod tools;
pub mod trail;
pub mod twins;
pub mod usage;

pub use edge::handle;
pub use host::Host;
// One dependency is enough for a Worker of one's own. What tools need has the same paths in `a2a_agents`, with which
// the build script compiles them.
pub use ::{async_trait, serde, serde_json, worker};
pub use a2a::{client, http, model};
pub use a2a_agents::tool;

#[cfg(feature = "demo")]
worker!(demo::host());
