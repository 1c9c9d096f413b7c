//! a2a-edge: hosts A2A agents on Cloudflare Workers, each task in its own Durable Object.
//!
//! A request enters through [`edge`]. [`a2a::binding`] decodes it into a call of an [`operation`]. The operation drives
//! the [`task`] machine inside the task's object, and the agent's [`executor`] produces the answer.
//!
//! | module | contents |
//! |---|---|
//! | [`task`] | the life of a task as a state machine |
//! | [`session`] | one task in memory |
//! | [`operation`] | one file per operation (§3.1) |
//! | [`port`] | the interfaces between a task and the outside |
//! | [`twins`] | in-memory implementations of the ports, for tests |
//! | [`auth`] | identifies the caller (§7) |
//! | [`push`] | the allowed targets of notifications, and their signatures (§3.5.3, §13.2) |
//! | [`signing`] | the keys of this server, JWTs and signatures of cards (§8.4) |
//! | [`executor`] | the [`AgentExecutor`](executor::AgentExecutor) trait and the built-in executors |
//! | [`remotes`] | the agents that this Worker calls by name |
//! | [`mcp`](mod@mcp) | the MCP servers that this Worker calls by name, and the tools of agents as an MCP server |
//! | [`remembered`] | how long values fetched from other servers are used, and which request fetches them again |
//! | `panic` | a panic ends the call in which it occurs |
//! | [`room`] | the memory for request bodies, and which bodies are dropped when it is full |
//! | [`config`] | the settings of a deployment |
//! | [`host`](Host) | the parts of a Worker: agents, tools, executors |
//! | [`prelude`], [`testing`] | imports and tests for authors of agents |
//! | `forms` | the texts between the front Worker, the objects and the queues |
//! | `front` | the pure part of the front: head, route, admission |
//! | [`edge`] | Cloudflare |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they made"))]

// The attributes of tools write paths that begin with `::a2a_edge`.
extern crate self as a2a_edge;

pub mod auth;
pub mod config;
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
mod panic;
pub mod port;
pub mod prelude;
pub mod push;
pub mod remembered;
pub mod remotes;
pub mod room;
pub mod session;
pub mod signing;
pub mod task;
pub mod telemetry;
pub mod testing;
pub mod trail;
pub mod twins;
pub mod usage;

pub use edge::handle;
pub use host::Host;
// With these, a Worker that uses this library needs only one dependency. `a2a_agents` has the items for tools at the same paths.
pub use ::{async_trait, serde, serde_json, worker};
pub use a2a::{client, http, model};
pub use a2a_agents::tool;

#[cfg(feature = "worker")]
worker!(Host::new());
