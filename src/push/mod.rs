//! Webhooks, as far as they are decisions: where notifications may go, how they are signed, and what
//! follows from how they fare (spec §3.5.3, §13.2). Sending them is the business of `edge`.

mod crowd;
mod delivery;
pub mod guard;
mod notification;
mod origin;
pub mod signature;

pub use crowd::{Crowd, MAX_SILENT_AT_ONCE, patience_ms};
pub use delivery::{
    Attempt, DeadLetter, Delivery, Health, Report, RetryPolicy, Standing, Verdict, retry_after_s,
};
pub use notification::{GivenUp, NextNotification, Notification, NotificationTurn};
pub use origin::origin_of;
