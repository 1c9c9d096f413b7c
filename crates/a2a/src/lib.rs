//! The A2A (Agent2Agent) protocol without a platform: its data model, the decoding of calls and the encoding of
//! answers. This crate does not run tasks, read agent files or read a clock, so any program can use it.
//!
//! A server reads a request with [`binding`], which returns an [`Operation`] and its parameters, and decodes
//! these to a [`Call`]. It passes the result, an [`Outcome`] or an [`error::Error`], to the [`binding::Reply`] of
//! the request, which encodes the answer in the client's form:
//!
//! ```
//! use a2a::binding::jsonrpc::Envelope;
//! use a2a::binding::Reply;
//! use a2a::dialect::{Dialects, Spoken};
//! use a2a::error::Error;
//! use a2a::{Call, TaskCall};
//!
//! let body = br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
//! let Ok(Envelope { id, method, params }) = Envelope::parse(body, 1_000) else { panic!("bad JSON") };
//! let spoken = Spoken::method(&method, Some("1.0"), true, &Dialects::NONE)?;
//! let (dialect, reply) = (spoken.dialect_for(&Dialects::NONE, false)?, Reply::json_rpc(id));
//! let read = dialect.decode(reply.binding(), spoken.operation, params)?;
//! let Call::Task(TaskCall::GetTask(asked)) = read.call else { panic!("another call") };
//! let answer = reply.in_dialect(dialect).error(&Error::TaskNotFound(asked.id));
//! assert_eq!(answer.status, 200);
//! assert!(answer.body.contains("-32001"));
//! # Ok::<(), Error>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`model`] | the data model of the protocol (spec §4) |
//! | [`error`] | the errors of the protocol, and their wire form (§5.4) |
//! | [`dialect`] | the versions of the protocol, and their wire forms (§3.6) |
//! | [`client`] | calls to other agents, of any version |
//! | [`http`] | requests to other servers, as a trait that platforms implement |
//! | [`port`] | time and random numbers, as traits that platforms implement |
//! | [`sorted`] | ordered maps and sets for few entries, and sorting |
//! | [`canonical`] | the canonical forms of a card, which are signed (§8.4) |
//! | [`binding`] | bytes to calls and outcomes to bytes (§8, §9, §11) |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read what they made"))]

#[cfg(test)]
extern crate self as a2a;

pub mod binding;
mod call;
pub mod canonical;
pub mod client;
pub mod dialect;
pub mod error;
pub mod http;
mod input_modes;
pub mod model;
mod operation;
mod outcome;
pub mod port;
pub mod sorted;
mod terms;
mod wire;

pub use call::{Call, FollowCall, TaskCall, WebhookCall};
pub use input_modes::InputModes;
pub use operation::Operation;
pub use outcome::{Outcome, ShownTask};
pub use terms::{Allowance, DayLimit, Quota, Terms, UsedUp};
