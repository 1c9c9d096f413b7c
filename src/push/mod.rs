//! Webhooks: how notifications fare, and who may get them. Pure: nothing here sends anything.

mod delivery;

pub use delivery::{Attempt, Delivery, Health, Report, RetryPolicy, Verdict};
