//! The A2A (Agent2Agent) protocol without a platform: what its messages are, how calls are read and
//! answers written. It knows neither tasks that run nor agent files, asks no clock and waits for nothing,
//! so any program can use it.
//!
//! | module | what it is |
//! |---|---|
//! | [`model`] | the data model of the protocol (spec §4) |
//! | [`error`] | every failure that the protocol names, and its wire form (§5.4) |
//! | [`binding`] | bytes to calls and outcomes to bytes (§8, §9, §11) |

pub mod binding;
mod call;
pub mod error;
pub mod model;
mod outcome;
mod terms;

pub use call::{Call, Operation};
pub use outcome::{Outcome, ShownTask};
pub use terms::Terms;
