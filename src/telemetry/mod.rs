//! Telemetry in the forms of other programs: spans of OpenTelemetry and counts for metrics, made of observations. Pure; `edge/service/telemetry.rs`
//! sends them.
//!
//! # A trace
//!
//! ```text
//! GetTask, SendMessage, …   the front Worker, kind SERVER; in the trace of the client if it has one        js/hop.js, edge/front/observed.rs
//!   facts                   what the decision had to wait for
//!   object                  until the object answered
//! invoke_agent demo         a run in the object, a child of the request whose message it handles           session/run/mod.rs
//!   chat gpt-x              a request to a model; execute_tool, invoke_agent: a call; step: any other step   executor/turn/timing.rs
//!     POST                  a request to another server, kind CLIENT; its server continues the trace         session/run/tracing.rs
//!   index                   a statement for the index                                                      session/debts/mod.rs
//! webhook                   an attempt to send a notification, a child of the request                       edge/jobs/consumer.rs
//! ```
//!
//! A run that was parked, interrupted or has panicked is one span for each time that it was in memory, each with a link to the one
//! before. No span id is stored: the id of a run's span is a hash of the object, the message, the attempt and the instant of its
//! begin, which are in the log. So a process that finds an interrupted run reports its span, which the lost process could not, and
//! steps that the lost process has reported have their parent. Work that was under way then goes on as the same span (`executor/turn/timing.rs`).
//! Requests whose spans the lost process had not sent, in its last second, stay unknown.
//!
//! Names and attributes are those of OpenTelemetry's semantic conventions for HTTP, for GenAI, and for A2A as of commit 731f29c of
//! open-telemetry/semantic-conventions-genai (its pull request 195). Attributes of ours begin with `a2a_edge.`.

mod sample;
mod span;

pub use sample::{Sample, samples_of};
pub use span::span_of;
