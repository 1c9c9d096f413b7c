//! The A2A (Agent2Agent) protocol without a platform: what its messages are, how calls are read and
//! answers written. It knows neither tasks that run nor agent files and asks no clock, so any program can use it.
//!
//! | module | what it is |
//! |---|---|
//! | [`model`] | the data model of the protocol (spec §4) |
//! | [`error`] | every failure that the protocol names, and its wire form (§5.4) |
//! | [`dialect`] | which version of the protocol a request speaks, and how it differs on the wire (§3.6) |
//! | [`http`] | requests to other servers, as a door that platforms implement |
//! | [`binding`] | bytes to calls and outcomes to bytes (§8, §9, §11) |

pub mod binding;
mod call;
pub mod dialect;
pub mod error;
pub mod http;
pub mod model;
mod outcome;
mod terms;

pub use call::{Call, FollowCall, Operation, TaskCall, WebhookCall};
pub use outcome::{Outcome, ShownTask};
pub use terms::Terms;
