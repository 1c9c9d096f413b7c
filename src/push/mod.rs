//! Webhooks, as far as they are decisions: where notifications may go, how they are signed, and what
//! follows from how they fare (spec §3.5.3, §13.2). Sending them is the business of `edge`.

mod delivery;
pub mod guard;
pub mod jwk;
pub mod signature;

pub use delivery::{Attempt, Delivery, Health, Report, RetryPolicy, Verdict};
