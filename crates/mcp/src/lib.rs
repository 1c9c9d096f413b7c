//! MCP (Model Context Protocol) over streamable HTTP without a platform: the messages, the client that calls servers, and
//! the server that answers calls. Time, random numbers and HTTP are used through the ports of [`a2a`], so any program can
//! use this crate.
//!
//! There are two eras of the wire format. *Modern* is 2026-07-28: each request is independent, and contains the capabilities
//! of its client in `_meta`. *Legacy* is 2025-11-25, 2025-06-18 and 2025-03-26: a connection begins with `initialize`, and
//! servers may have sessions.
//!
//! | module | content |
//! |---|---|
//! | [`client`] | calls to servers: their era, their tools, calls and their events |
//! | [`model`] | tools, results, questions and errors, the same for all revisions |
//! | [`server`] | parses, checks and answers requests |
//! | [`agents`] | A2A agents as tools |
//! | [`header`] | texts as values of headers |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they made"))]

pub mod agents;
pub mod client;
pub mod header;
pub mod model;
pub mod server;
