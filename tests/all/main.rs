//! The tests of the server through its public interface, in memory: walks, tables and properties. They are one program, so
//! that the library is linked once; `cargo test --test all MODULE::` runs a single module.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod callback_bodies;
mod calling;
mod changing;
mod checked_form;
mod chosen_ids;
mod coordinator;
mod deletion;
mod docs;
mod functions;
mod held_text;
mod host;
mod http_agent;
mod http_agent_recovery;
mod isolation;
mod layers;
mod mcp;
mod mcp_recovery;
mod model;
mod model_endpoint;
mod model_mcp;
mod model_recovery;
mod model_table;
mod outbound;
mod parking;
mod projection;
mod quota;
mod receivers;
mod recovery;
mod remote;
mod remote_recovery;
mod room;
mod runs;
mod sessions;
mod support;
mod task_machine;
mod timeline;
mod tools;
mod usage;
mod webhook_dialects;
mod webhook_list;
mod webhooks;
