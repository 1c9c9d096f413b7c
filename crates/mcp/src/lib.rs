//! MCP (Model Context Protocol) over streamable HTTP without a platform: what its messages are, how servers are called, and
//! how calls are answered. Time, chance and HTTP come through the ports of [`a2a`], so any program can use it.
//!
//! Two eras share the wire. *Modern* is 2026-07-28: each request stands for itself and says in `_meta` what its client can
//! do. *Legacy* is 2025-11-25, 2025-06-18 and 2025-03-26: a connection begins with `initialize`, and servers may hold sessions.
//!
//! | module | what it is |
//! |---|---|
//! | [`client`] | calls to servers: which era they speak, their tools, calls and what these bring |
//! | [`model`] | tools, results, questions and errors, alike in all revisions |
//! | [`server`] | requests read, checked and answered |
//! | [`agents`] | agents of A2A as tools |
//! | [`header`] | texts as values of headers |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they made"))]

pub mod agents;
pub mod client;
pub mod header;
pub mod model;
pub mod server;
